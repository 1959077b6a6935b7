#include "train/evaluation/class_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace trireme::train {

std::vector<std::vector<std::int64_t>> ClassReport::matrix() const {
  std::vector<std::vector<std::int64_t>> counts(scores.size(), std::vector<std::int64_t>(scores.size()));
  for (std::size_t k = 0; k < scores.size(); ++k) counts[k][k] = scores[k].right;
  for (const Confusion& each : confusions) counts[each.label][each.predicted] = each.samples;
  return counts;
}

ClassReport report_classes(const Predictions& p) {
  if (p.spec.target == data::TargetKind::labels) return {p.evaluation.scores.labels, {}};
  ClassReport report{std::vector<ClassScore>(static_cast<std::size_t>(p.spec.classes)), {}};
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> confused;
  for (std::int64_t s = 0; s < p.samples; ++s) {
    const auto label = static_cast<std::size_t>(p.target(s)[0]);
    const std::size_t predicted = p.best_class(s);
    ++report.scores[label].samples;
    ++report.scores[predicted].predicted;
    if (label == predicted)
      ++report.scores[label].right;
    else
      ++confused[{label, predicted}];
  }
  for (const auto& [pair, samples] : confused) report.confusions.push_back({pair.first, pair.second, samples});
  std::ranges::stable_sort(report.confusions, [](const auto& a, const auto& b) { return a.samples > b.samples; });
  return report;
}

std::vector<std::int64_t> worst_samples(const Predictions& predictions, std::int64_t count) {
  std::vector<double> losses;
  for (std::int64_t s = 0; s < predictions.samples; ++s) {
    const double loss = predictions.loss(s);
    losses.push_back(std::isnan(loss) ? HUGE_VAL : loss);
  }
  std::vector<std::int64_t> order(losses.size());
  std::iota(order.begin(), order.end(), std::int64_t{0});
  std::ranges::stable_sort(order, [&](std::int64_t a, std::int64_t b) {
    return losses[static_cast<std::size_t>(a)] > losses[static_cast<std::size_t>(b)];
  });
  order.resize(static_cast<std::size_t>(std::min(count, predictions.samples)));
  return order;
}

}  // namespace trireme::train
