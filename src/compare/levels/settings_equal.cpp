#include "compare/levels/settings_equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "compare/levels/layer_file.h"
#include "optim/learning_rate_schedule.h"

namespace trireme::compare {
namespace {

constexpr double kSame = 1e-6;            // tolerance for numbers that both sides compute in double
constexpr double kDeviations = 6;         // tolerated standard deviations of a dropout's dropped share
constexpr std::int64_t kNormalized = 16;  // samples

// Compares the rate of each dropout, and checks that masks drop that share and scale the rest.
void compare_dropouts(const Feed& feed, const PeerSide& peer, SettingsFound& found) {
  if (!peer.dropouts()) {
    found.not_exercised.emplace_back("rates of dropout (the peer is given masks)");
    return;
  }
  const PeerSide::Rates& rates = *peer.dropouts();
  int masks = 0;
  for (const store::NamedTensor& mask : feed.tensors) {
    if (!mask.name.starts_with("mask.")) continue;
    ++masks;
    const std::string layer = mask.name.substr(std::string("mask.").size());
    const auto rate = rates.find(layer);
    if (rate == rates.end()) {
      found.differs = fmt::format("{} is a dropout here and none there", layer);
      return;
    }
    const float kept = static_cast<float>(1 / (1 - rate->second));
    std::int64_t dropped = 0;
    for (const float value : mask.values) {
      if (value != 0 && std::abs(value / kept - 1) > kSame) {
        found.differs = fmt::format("dropout {} scales by {} here and drops {} there, which scales by {}", layer, value,
                                    rate->second, kept);
        return;
      }
      dropped += value == 0 ? 1 : 0;
    }
    const auto count = static_cast<double>(mask.values.size());
    const double deviation = std::sqrt(rate->second * (1 - rate->second) / count);
    if (std::abs(static_cast<double>(dropped) / count - rate->second) > kDeviations * deviation) {
      found.differs = fmt::format("dropout {} drops {:.4f} of its values here and {} there", layer,
                                  static_cast<double>(dropped) / count, rate->second);
      return;
    }
  }
  if (rates.size() != static_cast<std::size_t>(masks))
    found.differs = fmt::format("{} dropouts here and {} there", masks, rates.size());
  else if (masks == 0)
    found.not_exercised.emplace_back("dropout (the network has none)");
  else
    found.compared.push_back(fmt::format("rates and masks of {} dropout{}", masks, masks == 1 ? "" : "s"));
}

void compare_rates(const train::Experiment& experiment, const Options& options, PeerSide& peer, double lr,
                   SettingsFound& found) {
  const auto schedule = optim::make_schedule(options.schedule);
  const auto theirs = peer.learning_rates(options.schedule, lr, options.steps, experiment.steps_per_epoch);
  if (!theirs) {
    found.not_exercised.emplace_back("the schedule (the peer is given the rate of each step)");
    return;
  }
  for (std::int64_t step = 0; step < options.steps; ++step) {
    const double here = schedule->lr(lr, step, experiment.steps_per_epoch, options.steps);
    const double there = theirs->at(static_cast<std::size_t>(step));
    if (std::abs(here - there) <= kSame * std::max(std::abs(here), kSame * lr)) continue;
    found.differs = fmt::format("the learning rate of step {} is {} here and {} there ({})", step + 1, here, there,
                                options.schedule);
    return;
  }
  if (options.schedule == "constant")
    found.not_exercised.emplace_back("a schedule (the learning rate is constant)");
  else
    found.compared.push_back(fmt::format("learning rates of {} steps", options.steps));
}

// The first training samples, not augmented.
Tensors first_samples(const data::Dataset& set) {
  const data::DataSpec& spec = set.spec();
  const std::int64_t count = std::min(kNormalized, set.size());
  Tensors all;
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) {
    all.push_back({fmt::format("input.{}", i), spec.inputs[i].with_batch(count), {}});
    all.back().values.resize(static_cast<std::size_t>(all.back().shape.count()));
  }
  std::vector<float> target(static_cast<std::size_t>(data::target_floats(spec)));
  for (std::int64_t s = 0; s < count; ++s) {
    std::vector<float*> places;
    for (store::NamedTensor& one : all) places.push_back(one.values.data() + s * one.shape.count_from(1));
    set.fetch(s, {}, places, target.data());
  }
  return all;
}

void compare_normalized(const train::Experiment& experiment, const MakeExperiment& make, PeerSide& peer,
                        SettingsFound& found) {
  if (experiment.normalization.inputs.empty()) {
    found.not_exercised.emplace_back("normalisation (the data needs none)");
    return;
  }
  const Tensors ours = first_samples(*make({{"augment", "none"}}).train);
  Tensors raw = first_samples(*make({{"augment", "none"}, {"normalize", "none"}}).train);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const data::InputNormalization& numbers = experiment.normalization.inputs.at(i);
    const auto count = static_cast<std::int64_t>(numbers.mean.size());
    if (count != ours[i].shape[1]) {
      found.not_exercised.emplace_back("normalisation (its mean is one per value)");
      return;
    }
    raw.push_back({fmt::format("mean.{}", i), tensor::Shape({count}), numbers.mean});
    raw.push_back({fmt::format("divisor.{}", i), tensor::Shape({count}), numbers.divisor});
  }
  const Tensors theirs = peer.normalize(raw);
  for (const store::NamedTensor& one : ours) {
    const store::NamedTensor* there = find(theirs, one.name);
    if (there == nullptr || compare_sums(one.name, one.values, *there, 4).excess() > 1) {
      found.differs = fmt::format("normalised samples differ ({})", one.name);
      return;
    }
  }
  found.compared.emplace_back("normalised samples");
  found.not_exercised.emplace_back("the statistics that the normalisation uses (computed here, applied on both sides)");
}

}  // namespace

SettingsFound compare_settings(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                               const Feed& feed, PeerSide& peer, double lr) {
  SettingsFound found;
  compare_dropouts(feed, peer, found);
  if (found.differs.empty()) compare_rates(experiment, options, peer, lr, found);
  if (found.differs.empty()) compare_normalized(experiment, make, peer, found);
  return found;
}

}  // namespace trireme::compare
