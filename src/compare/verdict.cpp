#include "compare/verdict.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <utility>

#include "base/error.h"

namespace trireme::compare {
namespace {

// Some runs do not show all that rounding can do; and our kernels round more often than a plain sum does where they
// transform (Winograd, Toom-Cook).
constexpr double kFactor = 10;
// A single number may be right by chance in all of them.
constexpr double kFactorOfLoss = 30;
// A tensor that was made by one rounding per element is not expected to be closer than this.
constexpr double kRoundings = 4 * std::numeric_limits<float>::epsilon();

double norm_of_difference(const std::vector<float>& a, const std::vector<float>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const double difference = static_cast<double>(a[i]) - static_cast<double>(b[i]);
    sum += difference * difference;
  }
  return std::isfinite(sum) ? std::sqrt(sum) : std::numeric_limits<double>::infinity();
}

double norm(const std::vector<float>& a) {
  double sum = 0;
  for (const float value : a) sum += static_cast<double>(value) * static_cast<double>(value);
  return std::sqrt(sum);
}

double relative(const store::NamedTensor& one, const store::NamedTensor& reference) {
  const double absolute = norm_of_difference(one.values, reference.values);
  return absolute == 0 ? 0 : absolute / std::max(norm(reference.values), std::numeric_limits<double>::min());
}

double largest_relative(const store::NamedTensor& one, const store::NamedTensor& reference) {
  double apart = 0, largest = std::numeric_limits<double>::min();
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    const double theirs = reference.values[i], difference = std::abs(static_cast<double>(one.values[i]) - theirs);
    apart = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(apart, difference);
    largest = std::max(largest, std::abs(theirs));
  }
  return apart / largest;
}

std::string kind_of(const std::string& name) {
  if (is_statistic(name)) return "statistic";
  return name.substr(0, name.find('.'));
}

// In the order in which a step makes them.
constexpr std::array kKinds{"loss", "statistic", "gradient", "slot", "weight", "output"};

int place_of(const std::string& name) {
  return static_cast<int>(std::ranges::find(kKinds, kind_of(name)) - kKinds.begin());
}

const store::NamedTensor& find_like(const store::NamedTensor& like, const Tensors& tensors, const std::string& whose) {
  const store::NamedTensor* found = find(tensors, like.name);
  if (found == nullptr) base::run_error("{} has no {}", whose, like.name);
  if (found->shape != like.shape)
    base::run_error("{} has a {} of {} where ours is {}", whose, like.name, found->shape.text(), like.shape.text());
  return *found;
}

}  // namespace

Difference difference(const store::NamedTensor& one, const store::NamedTensor& reference) {
  return {one.name, relative(one, reference), 0, largest_relative(one, reference)};
}

std::map<std::string, double> band_thresholds() {
  return {{"step_bands", kFactor}, {"step_bands_of_losses", kFactorOfLoss}, {"step_least", kRoundings}};
}

bool is_statistic(const std::string& name) { return name.ends_with(".running_mean") || name.ends_with(".running_var"); }

double Difference::excess() const {
  const double larger = std::max(error, max_error);
  if (larger == 0) return 0;
  return limit > 0 ? larger / limit : std::numeric_limits<double>::infinity();
}

void Bands::learn(const Tensors& reference, const Tensors& again) {
  for (const store::NamedTensor& one : reference) {
    double& band = of_kind_[kind_of(one.name)];
    band = std::max({band, kRoundings, relative(find_like(one, again, "the peer"), one)});
  }
}

std::vector<Difference> Bands::judge(const Tensors& ours, const Tensors& reference) const {
  std::vector<Difference> all;
  for (const store::NamedTensor& one : ours) {
    const std::string kind = kind_of(one.name);
    const double limit = (kind == "loss" ? kFactorOfLoss : kFactor) * of_kind_.at(kind);
    all.push_back({one.name, relative(one, find_like(one, reference, "the peer")), limit});
  }
  return all;
}

const Difference& worst_of(const std::vector<Difference>& all) {
  return *std::ranges::max_element(all, {}, &Difference::excess);
}

const Difference* first_of(const std::vector<Difference>& all) {
  const Difference* found = nullptr;
  for (const Difference& one : all) {
    if (one.excess() <= 1) continue;
    const auto order = [](const Difference& of) { return std::pair(-place_of(of.name), of.excess()); };
    if (found == nullptr || order(one) > order(*found)) found = &one;
  }
  return found;
}

Level start_equal(const Tensors& ours, const Tensors& theirs) {
  Level level{.name = "start-equal"};
  std::int64_t values = 0;
  const auto fail = [&](const std::string& why) {
    level.passed = false;
    level.summary = why;
    return level;
  };
  if (ours.size() != theirs.size())
    return fail(fmt::format("{} parameters, statistics and slots here, {} there", ours.size(), theirs.size()));
  for (std::size_t i = 0; i < ours.size(); ++i) {
    if (ours[i].name != theirs[i].name)
      return fail(fmt::format("number {} is {} here and {} there", i + 1, ours[i].name, theirs[i].name));
    if (ours[i].shape != theirs[i].shape)
      return fail(
          fmt::format("{} is {} here and {} there", ours[i].name, ours[i].shape.text(), theirs[i].shape.text()));
    for (std::size_t v = 0; v < ours[i].values.size(); ++v)
      if (std::bit_cast<std::uint32_t>(ours[i].values[v]) != std::bit_cast<std::uint32_t>(theirs[i].values[v]))
        return fail(
            fmt::format("{}[{}] is {} here and {} there", ours[i].name, v, ours[i].values[v], theirs[i].values[v]));
    values += ours[i].shape.count();
  }
  level.summary = fmt::format("{} parameters, statistics and optimizer slots, {} values: names, shapes and bits",
                              ours.size(), values);
  return level;
}

}  // namespace trireme::compare
