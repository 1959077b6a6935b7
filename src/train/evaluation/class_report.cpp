#include "train/evaluation/class_report.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <utility>

namespace trireme::train {
namespace {

std::optional<double> quotient(std::int64_t part, std::int64_t whole) {
  if (whole == 0) return {};
  return static_cast<double>(part) / static_cast<double>(whole);
}

}  // namespace

std::optional<double> ClassScore::precision() const { return quotient(right, predicted); }
std::optional<double> ClassScore::recall() const { return quotient(right, samples); }
std::optional<double> ClassScore::f1() const { return quotient(2 * right, samples + predicted); }

std::vector<std::vector<std::int64_t>> ClassReport::matrix() const {
  std::vector<std::vector<std::int64_t>> counts(scores.size(), std::vector<std::int64_t>(scores.size()));
  for (std::size_t k = 0; k < scores.size(); ++k) counts[k][k] = scores[k].right;
  for (const Confusion& each : confusions) counts[each.label][each.predicted] = each.samples;
  return counts;
}

ClassReport report_classes(const Predictions& p) {
  ClassReport report{std::vector<ClassScore>(static_cast<std::size_t>(p.spec.classes)), {}};
  std::map<std::pair<std::size_t, std::size_t>, std::int64_t> confused;
  for (std::int64_t s = 0; s < p.samples; ++s) {
    if (p.spec.target == data::TargetKind::classes) {
      const auto label = static_cast<std::size_t>(p.target(s)[0]);
      const std::size_t predicted = p.best_class(s);
      ++report.scores[label].samples;
      ++report.scores[predicted].predicted;
      if (label == predicted)
        ++report.scores[label].right;
      else
        ++confused[{label, predicted}];
      continue;
    }
    const std::vector<double> answer = p.answer(s);
    for (std::size_t k = 0; k < answer.size(); ++k) {
      const bool has = p.target(s)[k] != 0, found = answer[k] >= 0.5;
      report.scores[k].samples += has ? 1 : 0;
      report.scores[k].predicted += found ? 1 : 0;
      report.scores[k].right += has && found ? 1 : 0;
    }
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
