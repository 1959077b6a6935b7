#include "compare/levels/verdict.h"

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

// Perturbed steps exaggerate roundings 64 times, but a handful of them may miss the worst case.
constexpr double kFactor = 4;
// A single number may agree by chance in all of them.
constexpr double kFactorOfNumbers = 30;
// Lower bound of a band: a tensor computed with one rounding per element cannot be expected to be closer.
constexpr double kStepRoundings = 4 * std::numeric_limits<float>::epsilon();
// A tensor whose values are below this share of the other tensors of its kind (or zero) is compared as if they had this
// size.
constexpr double kSmall = 1e-6;
constexpr const char* kScale = "scale of all gradients";

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

double relative(double difference, double norm) {
  if (difference == 0) return 0;
  return norm > 0 ? difference / norm : std::numeric_limits<double>::infinity();
}

double largest_relative(const store::NamedTensor& one, const store::NamedTensor& reference) {
  double apart = 0, largest = 0;
  for (std::size_t i = 0; i < one.values.size(); ++i) {
    const double theirs = reference.values[i], difference = std::abs(static_cast<double>(one.values[i]) - theirs);
    apart = std::isnan(difference) ? std::numeric_limits<double>::infinity() : std::max(apart, difference);
    largest = std::max(largest, std::abs(theirs));
  }
  return relative(apart, largest);
}

std::string kind_of(const std::string& name) {
  if (is_statistic(name)) return "statistic";
  return name.substr(0, name.find('.'));
}

// In the order in which a step computes them.
constexpr std::array kKinds{"loss", "statistic", "gradient", kScale, "slot", "weight", "output"};

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

bool is_single_number(const std::string& kind) { return kind == "loss" || kind == kScale; }

// The norms that differences are divided by.
class Sizes {
 public:
  explicit Sizes(const Tensors& reference) {
    for (const store::NamedTensor& one : reference) {
      Sum& sum = kinds_[kind_of(one.name)];
      const double size = norm(one.values);
      sum.squares += size * size;
      sum.values += static_cast<double>(one.values.size());
    }
  }

  double of(const store::NamedTensor& one) const {
    const Sum& kind = kinds_.at(kind_of(one.name));
    return std::max(norm(one.values),
                    kSmall * std::sqrt(kind.squares / kind.values * static_cast<double>(one.values.size())));
  }

 private:
  struct Sum {
    double squares = 0, values = 0;
  };
  std::map<std::string, Sum> kinds_;
};

// The common factor between these gradients and the reference's, minus one, as an absolute value.
double scale_apart(const Tensors& one, const Tensors& reference) {
  double products = 0, squares = 0;
  for (const store::NamedTensor& theirs : reference) {
    if (!theirs.name.starts_with("gradient.")) continue;
    const store::NamedTensor& own = find_like(theirs, one, "a side");
    for (std::size_t i = 0; i < theirs.values.size(); ++i) {
      products += static_cast<double>(own.values[i]) * static_cast<double>(theirs.values[i]);
      squares += static_cast<double>(theirs.values[i]) * static_cast<double>(theirs.values[i]);
    }
  }
  if (squares == 0) return 0;
  const double apart = std::abs(products / squares - 1);
  return std::isfinite(apart) ? apart : std::numeric_limits<double>::infinity();
}

}  // namespace

Difference difference(const store::NamedTensor& one, const store::NamedTensor& reference) {
  return {one.name, relative(norm_of_difference(one.values, reference.values), norm(reference.values)), 0,
          largest_relative(one, reference)};
}

std::map<std::string, double> band_thresholds() {
  return {{"step_bands", kFactor},
          {"step_bands_of_numbers", kFactorOfNumbers},
          {"step_least", kStepRoundings},
          {"step_small", kSmall}};
}

bool is_statistic(const std::string& name) { return name.ends_with(".running_mean") || name.ends_with(".running_var"); }

double Difference::excess() const {
  const double larger = std::max(error, max_error);
  if (larger == 0) return 0;
  return limit > 0 ? larger / limit : std::numeric_limits<double>::infinity();
}

bool is_of_update(const std::string& name) {
  return name.starts_with("slot.") || (name.starts_with("weight.") && !is_statistic(name));
}

void Bands::learn(const Tensors& reference, const Tensors& perturbed) {
  const Sizes sizes(reference);
  const auto widen = [&](const std::string& name, double error) {
    double& band = bands_[name];
    band = std::max({band, kStepRoundings, std::isfinite(error) ? error : 0});
  };
  for (const store::NamedTensor& one : reference) {
    if (is_of_update(one.name)) continue;
    const store::NamedTensor& again = find_like(one, perturbed, "the perturbed step");
    widen(one.name, relative(norm_of_difference(again.values, one.values), sizes.of(one)));
  }
  widen(kScale, scale_apart(perturbed, reference));
}

std::vector<Difference> Bands::judge(const Tensors& ours, const Tensors& reference) const {
  const Sizes sizes(reference);
  std::vector<Difference> all;
  const auto add = [&](const std::string& name, double error) {
    const double factor = is_single_number(kind_of(name)) ? kFactorOfNumbers : kFactor;
    all.push_back({name, error, factor * bands_.at(name)});
  };
  for (const store::NamedTensor& one : ours) {
    if (is_of_update(one.name)) continue;
    const store::NamedTensor& theirs = find_like(one, reference, "the peer");
    add(one.name, relative(norm_of_difference(one.values, theirs.values), sizes.of(theirs)));
  }
  add(kScale, scale_apart(ours, reference));
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
