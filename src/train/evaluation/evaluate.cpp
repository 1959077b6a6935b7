#include "train/evaluation/evaluate.h"

#include <array>
#include <limits>
#include <numeric>

namespace trireme::train {

crew::EvaluationReport evaluate_part(crew::Crew& crew, const data::Dataset& dataset, base::Range batches,
                                     const crew::Crew::See& see) {
  const data::DataSpec& spec = dataset.spec();
  const auto fill = [&](std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target) {
    std::array<float*, data::kMaxInputs> places{};
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::size_t i = 0; i < inputs.size(); ++i) places[i] = inputs[i] + s * spec.inputs[i].count();
      dataset.fetch(first + s, {}, std::span(places.data(), inputs.size()), target + s * data::target_floats(spec));
    }
  };
  return crew.evaluate(dataset.size(), batches, fill, see);
}

Evaluation whole_evaluation(const data::Dataset& dataset, std::span<const double> losses,
                            std::span<const double> corrects) {
  const auto samples = static_cast<double>(dataset.size());
  return {dataset.size(), std::accumulate(losses.begin(), losses.end(), 0.0) / samples,
          dataset.spec().target == data::TargetKind::values
              ? std::numeric_limits<double>::quiet_NaN()
              : std::accumulate(corrects.begin(), corrects.end(), 0.0) / samples};
}

Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const crew::Crew::See& see) {
  const crew::EvaluationReport report = evaluate_part(crew, dataset, {0, crew.evaluation_batches(dataset.size())}, see);
  return whole_evaluation(dataset, report.losses, report.corrects);
}

}  // namespace trireme::train
