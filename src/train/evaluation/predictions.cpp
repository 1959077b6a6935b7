#include "train/evaluation/predictions.h"

#include <algorithm>
#include <cmath>

namespace trireme::train {
namespace {

// log(1 + exp(x)) without overflow.
double log_of_one_and_exp(double x) { return std::max(x, 0.0) + std::log1p(std::exp(-std::abs(x))); }

// log(sum of exp(x)) without overflow.
double log_of_exp_sum(std::span<const float> values) {
  const double largest = *std::ranges::max_element(values);
  double sum = 0;
  for (const float value : values) sum += std::exp(static_cast<double>(value) - largest);
  return largest + std::log(sum);
}

// The samples of a dataset; keeps the targets it hands out, so that evaluation reads every sample once.
class KeepTargets : public data::Dataset {
 public:
  // `targets` has room for all samples.
  KeepTargets(const data::Dataset& source, std::vector<float>& targets)
      : source_(source), targets_(targets), width_(static_cast<std::size_t>(data::target_floats(source.spec()))) {}
  const data::DataSpec& spec() const override { return source_.spec(); }
  std::int64_t size() const override { return source_.size(); }
  void fetch(std::int64_t index, const data::AugmentationSeed& random, std::span<float* const> inputs,
             float* target) const override {
    source_.fetch(index, random, inputs, target);
    std::copy_n(target, width_, targets_.data() + static_cast<std::size_t>(index) * width_);
  }

 private:
  const data::Dataset& source_;
  std::vector<float>& targets_;
  std::size_t width_;
};

}  // namespace

std::span<const float> Predictions::output(std::int64_t sample) const {
  const auto width = static_cast<std::size_t>(spec.classes);
  return std::span(outputs).subspan(static_cast<std::size_t>(sample) * width, width);
}

std::span<const float> Predictions::target(std::int64_t sample) const {
  const auto width = static_cast<std::size_t>(data::target_floats(spec));
  return std::span(targets).subspan(static_cast<std::size_t>(sample) * width, width);
}

std::vector<double> Predictions::answer(std::int64_t sample) const {
  const std::span<const float> values = output(sample);
  std::vector<double> answers(values.begin(), values.end());
  if (spec.target == data::TargetKind::labels)
    for (double& x : answers) x = 1 / (1 + std::exp(-x));
  if (spec.target == data::TargetKind::classes) {
    const double sum = log_of_exp_sum(values);
    for (double& x : answers) x = std::exp(x - sum);
  }
  return answers;
}

std::size_t Predictions::best_class(std::int64_t sample) const {
  const std::span<const float> values = output(sample);
  return static_cast<std::size_t>(std::ranges::max_element(values) - values.begin());
}

double Predictions::loss(std::int64_t sample) const {
  const std::span<const float> values = output(sample), truth = target(sample);
  if (spec.target == data::TargetKind::classes)
    return log_of_exp_sum(values) - static_cast<double>(values[static_cast<std::size_t>(truth[0])]);
  double sum = 0;
  for (std::size_t k = 0; k < values.size(); ++k) {
    const double x = values[k], t = truth[k], error = scale.is_none() ? x - t : (x - t) / scale.deviation[k];
    sum += spec.target == data::TargetKind::labels ? log_of_one_and_exp(x) - t * x : error * error;
  }
  return sum / static_cast<double>(values.size());
}

Predictions predict(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale, bool with_targets) {
  Predictions all{{}, dataset.spec(), dataset.size(), {}, {}, scale};
  const auto width = static_cast<std::size_t>(all.spec.classes);
  const auto samples = static_cast<std::size_t>(all.samples);
  all.outputs.resize(samples * width);
  const auto see = [&](std::int64_t first, std::int64_t count, const float* prediction) {
    std::copy_n(prediction, static_cast<std::size_t>(count) * width,
                all.outputs.data() + static_cast<std::size_t>(first) * width);
  };
  all.targets.resize(samples * static_cast<std::size_t>(data::target_floats(all.spec)));
  all.evaluation = evaluate(crew, KeepTargets(dataset, all.targets), scale, see);
  data::restore(scale, all.outputs);
  if (!with_targets) all.targets.clear();
  return all;
}

std::string class_name(const data::DataSpec& spec, std::size_t number) {
  return number < spec.class_names.size() ? spec.class_names[number] : std::to_string(number);
}

}  // namespace trireme::train
