#include "train/evaluate.h"

#include <array>
#include <limits>

namespace trireme::train {

Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const crew::Crew::See& see) {
  const data::DataSpec& spec = dataset.spec();
  const auto fill = [&](std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target) {
    std::array<float*, data::kMaxInputs> places{};
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::size_t i = 0; i < inputs.size(); ++i) places[i] = inputs[i] + s * spec.inputs[i].count();
      dataset.fetch(first + s, {}, std::span(places.data(), inputs.size()), target + s * data::target_floats(spec));
    }
  };
  const crew::EvaluationReport report = crew.evaluate(dataset.size(), fill, see);
  const auto samples = static_cast<double>(report.samples);
  return {
      report.samples, report.loss / samples,
      spec.target == data::TargetKind::values ? std::numeric_limits<double>::quiet_NaN() : report.correct / samples};
}

}  // namespace trireme::train
