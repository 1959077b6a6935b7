#include "train/evaluation/evaluate.h"

#include <algorithm>
#include <array>
#include <limits>
#include <numeric>
#include <optional>
#include <utility>

#include "train/evaluation/confusion_counter.h"

namespace trireme::train {

EvaluationSums evaluate_part(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale,
                             base::Range batches, const crew::Crew::See& see) {
  const data::DataSpec& spec = dataset.spec();
  const std::int64_t unit = crew.evaluation_batch(), width = data::target_floats(spec);
  const graph::Network& network = crew.network();
  const std::int64_t outputs = network.shape({network.prediction()}).count();
  const bool fits = outputs == width;  // a loss of one's own may take other shapes
  const std::size_t each = fits ? score_sums(spec) : 0;
  std::optional<ConfusionCounter> confusion;
  if (spec.target == data::TargetKind::classes && outputs == spec.classes && outputs <= kMostConfusedClasses)
    confusion.emplace(spec.classes, base::Range{std::min(batches.begin * unit, dataset.size()),
                                                std::min(batches.end * unit, dataset.size())});
  EvaluationSums sums;
  sums.scores.resize(each * static_cast<std::size_t>(batches.size()));
  std::vector<float> targets;  // of all samples, because a batch's own memory is reused by the network's last layers
  if (each > 0) targets.resize(static_cast<std::size_t>(batches.size() * unit * width));
  const auto targets_from = [&](std::int64_t first) {
    return targets.data() + static_cast<std::size_t>((first - batches.begin * unit) * width);
  };
  const auto fill = [&](std::int64_t first, std::int64_t samples, std::span<float* const> inputs, float* target) {
    std::array<float*, data::kMaxInputs> places{};
    for (std::int64_t s = 0; s < samples; ++s) {
      for (std::size_t i = 0; i < inputs.size(); ++i) places[i] = inputs[i] + s * spec.inputs[i].count();
      dataset.fetch(first + s, {}, std::span(places.data(), inputs.size()), target + s * width);
    }
    if (each > 0) std::copy_n(target, samples * width, targets_from(first));
    if (confusion) confusion->set_targets(first, samples, target);
    data::standardise(scale, {target, static_cast<std::size_t>(samples * width)});
  };
  const auto score = [&](std::int64_t first, std::int64_t samples, const float* prediction) {
    const auto floats = static_cast<std::size_t>(samples * width);
    const auto batch = static_cast<std::size_t>(first / unit - batches.begin);
    if (each > 0)
      sum_scores(spec, scale, samples, {prediction, floats}, {targets_from(first), floats},
                 std::span(sums.scores).subspan(batch * each, each));
    if (confusion) confusion->see(first, samples, prediction);
    if (see) see(first, samples, prediction);
  };
  crew::EvaluationReport report =
      crew.evaluate(dataset.size(), batches, fill, each > 0 || confusion ? crew::Crew::See(score) : see);
  sums.losses = std::move(report.losses);
  sums.corrects = std::move(report.corrects);
  if (confusion) sums.confusion = confusion->counts();
  return sums;
}

Evaluation whole_evaluation(const data::Dataset& dataset, const EvaluationSums& sums) {
  const auto samples = static_cast<double>(dataset.size());
  const auto mean = [&](const std::vector<double>& of) { return std::accumulate(of.begin(), of.end(), 0.0) / samples; };
  return {dataset.size(), mean(sums.losses),
          dataset.spec().target == data::TargetKind::values ? std::numeric_limits<double>::quiet_NaN()
                                                            : mean(sums.corrects),
          scores_of(dataset.spec(), sums.scores), sums.confusion};
}

Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale,
                    const crew::Crew::See& see) {
  return whole_evaluation(dataset,
                          evaluate_part(crew, dataset, scale, {0, crew.evaluation_batches(dataset.size())}, see));
}

}  // namespace trireme::train
