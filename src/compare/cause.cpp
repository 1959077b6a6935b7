#include "compare/cause.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <optional>

namespace trireme::compare {
namespace {

constexpr double kNearly = 1e-3;       // relative remainder after a factor is taken out
constexpr double kLeastFactor = 1e-5;  // smallest deviation from 1 that is reported
constexpr double kLittle = 0.1;        // tolerated remainder beside a clear factor, as a share of it
constexpr double kClear = 0.9;         // cosine of a clear direction

constexpr const char* kAnotherDecay =
    "the difference points along the weights: another weight decay, or coupled on one side and decoupled on the other?";

// Sums of the products of two vectors, over many tensors.
struct Products {
  double aa = 0, ab = 0, bb = 0;
  void add(double a, double b) {
    aa += a * a;
    ab += a * b;
    bb += b * b;
  }
  // The factor between a and b (b = factor * a), if the remainder is below a thousandth, or small beside the factor's
  // deviation from 1.
  std::optional<double> factor() const {
    if (aa == 0 || bb == 0) return std::nullopt;
    const double factor = ab / aa, left = std::sqrt(std::max(0.0, bb - ab * factor) / bb);
    const double far = std::abs(factor - 1) / std::max(std::abs(factor), 1.0);
    return left <= std::max(kNearly, kLittle * far) ? std::optional(factor) : std::nullopt;
  }
  double cosine() const { return aa == 0 || bb == 0 ? 0 : ab / std::sqrt(aa * bb); }
};

// Calls f(ours, reference, before) for every value of the wanted tensors.
template <class Want, class Use>
void for_each_value(const Tensors& ours, const Tensors& reference, const Tensors& before, const Want& want,
                    const Use& use) {
  for (const store::NamedTensor& one : ours) {
    if (!want(one.name)) continue;
    const store::NamedTensor *theirs = find(reference, one.name), *earlier = find(before, one.name);
    if (theirs == nullptr) continue;
    for (std::size_t i = 0; i < one.values.size(); ++i)
      use(static_cast<double>(one.values[i]), static_cast<double>(theirs->values[i]),
          earlier == nullptr ? 0.0 : static_cast<double>(earlier->values[i]));
  }
}

std::string of_gradients(const Tensors& ours, const Tensors& reference, double samples) {
  Products products;
  for_each_value(
      ours, reference, {}, [](const std::string& name) { return name.starts_with("gradient."); },
      [&](double a, double b, double) { products.add(a, b); });
  const auto factor = products.factor();
  if (!factor || std::abs(*factor - 1) < kLeastFactor) return "";
  const bool sum_and_mean = std::abs(*factor / samples - 1) < kNearly || std::abs(*factor * samples - 1) < kNearly;
  return fmt::format("all gradients there are {:.6g} times ours: {}?", *factor,
                     sum_and_mean ? "a sum on one side and a mean on the other" : "another factor of the loss");
}

std::string of_statistics(const Difference& first, const Tensors& ours, const Tensors& reference,
                          const Tensors& before) {
  Products means, all;
  for_each_value(ours, reference, before, is_statistic,
                 [&](double a, double b, double earlier) { all.add(a - earlier, b - earlier); });
  for_each_value(
      ours, reference, before, [](const std::string& name) { return name.ends_with(".running_mean"); },
      [&](double a, double b, double earlier) { means.add(a - earlier, b - earlier); });
  if (const auto factor = all.factor(); factor && std::abs(*factor - 1) >= kNearly)
    return fmt::format("running statistics move {:.4g} times as far there: another momentum of batch norm?", *factor);
  const auto factor = means.factor();
  if (first.name.ends_with(".running_var") && factor && std::abs(*factor - 1) < kNearly)
    return "running means agree and variances do not: divided by n on one side and by n - 1 on the other?";
  return "";
}

std::string of_slots(const Tensors& ours, const Tensors& reference, const Tensors& before) {
  Products slots, towards_weights;
  for (const store::NamedTensor& one : ours) {
    const store::NamedTensor* theirs = find(reference, one.name);
    if (!one.name.starts_with("slot.") || theirs == nullptr) continue;
    // Names are slot.<slot>.<parameter>.
    const store::NamedTensor* weight = find(before, "weight." + one.name.substr(one.name.find('.', 5) + 1));
    for (std::size_t i = 0; i < one.values.size(); ++i) {
      slots.add(one.values[i], theirs->values[i]);
      if (weight != nullptr) towards_weights.add(weight->values[i], theirs->values[i] - one.values[i]);
    }
  }
  if (const auto factor = slots.factor(); factor && std::abs(*factor - 1) >= kNearly)
    return fmt::format(
        "the optimizer's state there is {:.4g} times ours: the learning rate inside momentum on one side?", *factor);
  return std::abs(towards_weights.cosine()) > kClear ? kAnotherDecay : "";
}

std::string of_weights(const Tensors& ours, const Tensors& reference, const Tensors& before) {
  Products moves, towards_zero;
  for_each_value(
      ours, reference, before,
      [](const std::string& name) { return name.starts_with("weight.") && !is_statistic(name); },
      [&](double a, double b, double earlier) {
        moves.add(a - earlier, b - earlier);
        towards_zero.add(earlier, b - a);
      });
  if (const auto factor = moves.factor(); factor && std::abs(*factor - 1) >= kNearly)
    return fmt::format("weights move {:.4g} times as far there: another learning rate, or its place in momentum?",
                       *factor);
  return std::abs(towards_zero.cosine()) > kClear ? kAnotherDecay : "";
}

}  // namespace

std::string likely_cause(const Difference& first, const Tensors& ours, const Tensors& reference, const Tensors& before,
                         double samples) {
  if (is_statistic(first.name)) return of_statistics(first, ours, reference, before);
  if (first.name.find("gradient") != std::string::npos) return of_gradients(ours, reference, samples);
  if (first.name.starts_with("slot.")) return of_slots(ours, reference, before);
  if (first.name.starts_with("weight.")) return of_weights(ours, reference, before);
  return "";
}

}  // namespace trireme::compare
