#include "compare/levels/update_equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>

#include "base/error.h"
#include "base/rng.h"
#include "compare/levels/layer_file.h"

namespace trireme::compare {
namespace {

constexpr int kUpdates = 5;         // the first with zero gradients, the last with clipped ones
constexpr double kClippedNorm = 1;  // far below the norm of the given gradients
// Roundings of an update rule per element, approximately.
constexpr double kUpdateRoundings = 16;
// Decay alone moves weights little; a large learning rate lifts it above the weights' own rounding.
constexpr double kRateOfDecay = 1;
constexpr double kSmallestGradient = 1e-9;

// A sequence of random numbers.
class Numbers {
 public:
  explicit Numbers(int stream) : random_(0, base::Purpose::probe, 0, static_cast<std::uint64_t>(stream)) {}
  double uniform() { return static_cast<double>(random_.uniform(position_++)); }
  double sign() { return uniform() < 0.5 ? -1 : 1; }

 private:
  base::CounterRng random_;
  std::uint64_t position_ = 0;
};

// Random weights of absolute value 0.05 to 0.15; running statistics keep their values.
Tensors given_weights(Tensors weights) {
  Numbers numbers(0);
  for (store::NamedTensor& one : weights)
    if (!is_statistic(one.name))
      for (float& value : one.values) value = static_cast<float>(numbers.sign() * (0.05 + 0.1 * numbers.uniform()));
  return weights;
}

// Gradients of all trained parameters: zero in the first update, then log-uniform from kSmallestGradient to 1.
Tensors given_gradients(const Tensors& weights, int update) {
  Numbers numbers(update);
  Tensors all;
  for (const store::NamedTensor& one : weights) {
    if (is_statistic(one.name)) continue;
    store::NamedTensor gradient{"gradient." + one.name, one.shape, std::vector<float>(one.values.size())};
    if (update > 1)
      for (float& value : gradient.values)
        value = static_cast<float>(numbers.sign() * std::pow(kSmallestGradient, numbers.uniform()));
    all.push_back(std::move(gradient));
  }
  return all;
}

double norm_of(const std::vector<float>& values) {
  double sum = 0;
  for (const float value : values) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

std::vector<float> minus(const std::vector<float>& a, const std::vector<float>& b) {
  std::vector<float> difference(a.size());
  for (std::size_t i = 0; i < a.size(); ++i) difference[i] = a[i] - b[i];
  return difference;
}

Difference compare_one(const store::NamedTensor& ours, const store::NamedTensor& theirs,
                       const store::NamedTensor* before, int updates) {
  const double apart = norm_of(minus(ours.values, theirs.values)), size = norm_of(theirs.values);
  const double moved = before == nullptr ? size : norm_of(minus(theirs.values, before->values));
  // The rounding of the weights themselves, which hides small moves.
  const double lost = before == nullptr ? 0 : std::sqrt(updates) * 2 * kUnit * size;
  Difference found{ours.name, 0, kAllowance * kUpdateRoundings * kUnit * std::sqrt(updates)};
  // If the peer's weights do not move, our own size is the reference.
  if (apart > lost) found.error = (apart - lost) / (moved > lost ? moved : std::max(lost, norm_of(ours.values)));
  if (!std::isfinite(apart)) found.error = std::numeric_limits<double>::infinity();
  return found;
}

}  // namespace

std::vector<Difference> compare_update(const Tensors& ours, const Tensors& theirs, const Tensors& before, int updates) {
  std::vector<Difference> all;
  for (const store::NamedTensor& one : ours) {
    if (!is_of_update(one.name)) continue;
    const store::NamedTensor* there = find(theirs, one.name);
    if (there == nullptr || there->shape != one.shape) base::run_error("the peer has no {} of our shape", one.name);
    all.push_back(compare_one(one, *there, find(before, one.name), updates));
  }
  return all;
}

std::map<std::string, double> update_thresholds() { return {{"update_roundings", kUpdateRoundings}}; }

Level update_equal(const train::Experiment& experiment, OurSide& ours, PeerSide& peer, double lr) {
  Level level{.name = "update-equal"};
  const Tensors weights = given_weights(ours.weights());
  Tensors before;
  for (const store::NamedTensor& one : weights) before.push_back({"weight." + one.name, one.shape, one.values});
  Tensors state = before;
  for (store::NamedTensor& one : ours.slots()) state.push_back(std::move(one));
  ours.take(state);
  peer.prepare(experiment, weights, ours.optimizer_text());
  (void)peer.prepared();
  for (int update = 1; update <= kUpdates; ++update) {
    const Tensors gradients = given_gradients(weights, update);
    const double rate = update == 1 ? kRateOfDecay : lr;
    const double max_norm = update == kUpdates ? kClippedNorm : 0;
    const Found here = ours.update(gradients, rate, max_norm), there = peer.update(gradients, rate, max_norm);
    std::vector<Difference> all = compare_update(here.tensors, there.tensors, before, update);
    const tensor::Shape number({1});
    all.push_back(compare_one({"penalty", number, {static_cast<float>(here.penalty)}},
                              {"penalty", number, {static_cast<float>(there.penalty)}}, nullptr, update));
    const char* what = update == 1          ? ", of decay and penalty alone"
                       : update == kUpdates ? ", of clipped gradients"
                                            : "";
    for (Difference& one : all) one.name += fmt::format(" after update {}{}", update, what);
    for (const Difference& one : all)
      if (one.excess() > 1 && level.passed) {
        level.passed = false;
        level.summary =
            fmt::format("{} differs by {:.2g}, where rounding causes at most {:.2g}", one.name, one.error, one.limit);
      }
    level.rows.push_back(worst_of(all));
    before.clear();
    for (const store::NamedTensor& one : there.tensors)
      if (one.name.starts_with("weight.")) before.push_back(one);
  }
  if (level.passed)
    level.summary = fmt::format(
        "weights and slots after {} updates with given gradients, the first of decay and penalty alone, the last with "
        "clipped gradients; closest to its limit: {}",
        kUpdates, worst_of(level.rows).name);
  return level;
}

}  // namespace trireme::compare
