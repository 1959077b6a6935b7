#include "train/experiment/class_weights.h"

#include <algorithm>
#include <cmath>
#include <optional>

#include "base/error.h"
#include "base/text/nearest.h"
#include "base/text/text.h"
#include "train/evaluation/predictions.h"

namespace trireme::train {
namespace {

constexpr std::size_t kNotedClasses = 10;
constexpr double kMostWeight = 1e6;

std::size_t class_of(const std::string& option, const data::DataSpec& spec, const std::string& name) {
  std::vector<std::string> names;
  for (std::size_t k = 0; k < static_cast<std::size_t>(spec.classes); ++k) names.push_back(class_name(spec, k));
  for (std::size_t k = 0; k < names.size(); ++k)
    if (names[k] == name) return k;
  for (std::size_t k = 0; k < names.size(); ++k)
    if (std::to_string(k) == name) return k;
  base::user_error("{}: {}", option, base::unknown_name("class", name, names));
}

std::vector<double> given_weights(const std::string& option, const std::string& text, const data::DataSpec& spec) {
  std::vector<std::optional<double>> given(static_cast<std::size_t>(spec.classes));
  for (const std::string& part : base::split(text, ',')) {
    const std::size_t equals = part.rfind('=');
    if (equals == std::string::npos)
      base::user_error("{} has '{}'; expected none, balanced, or weights of classes as NAME=2,OTHER=0.5", option, part);
    const std::string name = part.substr(0, equals);
    const double weight =
        base::parse_double(fmt::format("{}: the weight of '{}'", option, name), part.substr(equals + 1));
    if (!(weight >= 0 && weight <= kMostWeight))
      base::user_error("{}: the weight of '{}' is {}, expected 0 to {}", option, name, weight, kMostWeight);
    std::optional<double>& place = given[class_of(option, spec, name)];
    if (place) base::user_error("{} names the class '{}' twice", option, name);
    place = weight;
  }
  std::vector<double> weights;
  for (const std::optional<double>& weight : given) weights.push_back(weight.value_or(1));
  return weights;
}

}  // namespace

std::vector<float> class_weights(const std::string& option, const std::string& text,
                                 const data::Dataset& training_set) {
  if (text == "none") return {};
  const data::DataSpec& spec = training_set.spec();
  if (spec.target != data::TargetKind::classes)
    base::user_error("{} is for data with one class per sample, and this has {}; use none", option,
                     data::target_name(spec.target));
  const std::vector<std::int64_t> samples = data::class_counts(training_set);
  std::vector<double> weights;
  if (text == "balanced")
    for (const std::int64_t n : samples) weights.push_back(n > 0 ? 1 / static_cast<double>(n) : 0);
  else
    weights = given_weights(option, text, spec);
  double sum = 0;
  for (std::size_t k = 0; k < weights.size(); ++k) sum += weights[k] * static_cast<double>(samples[k]);
  if (sum == 0) base::user_error("{} {} gives every training sample the weight 0", option, text);
  std::vector<float> scaled;
  for (std::size_t k = 0; k < weights.size(); ++k)
    scaled.push_back(samples[k] == 0 ? 1.0f
                                     : static_cast<float>(weights[k] * static_cast<double>(training_set.size()) / sum));
  return scaled;
}

std::string class_weights_note(const data::DataSpec& spec, const std::vector<float>& weights) {
  std::string text = "class weights:";
  for (std::size_t k = 0; k < std::min(weights.size(), kNotedClasses); ++k)
    text += fmt::format("{} {} {:.3g}", k > 0 ? "," : "", class_name(spec, k), weights[k]);
  return weights.size() > kNotedClasses ? fmt::format("{}, ... ({} in all)", text, weights.size()) : text;
}

}  // namespace trireme::train
