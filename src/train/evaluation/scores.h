// Scores: how well values or labels are predicted: MAE, RMSE and R2, or F1 and exact matches.
// Pure functions; thread-safe.
//
// Each evaluation batch gives sums in double, in the order of its samples. They are combined in the order of the
// batches, so scores depend neither on threads nor on workers.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/target_scale.h"
#include "observe/events.h"

namespace trireme::train {

// Of a class, or of a label: one of several that a sample may have.
struct ClassScore {
  std::int64_t samples = 0;    // that have it
  std::int64_t predicted = 0;  // for which it was predicted
  std::int64_t right = 0;      // both

  // right / predicted, right / samples, and their harmonic mean; no value where that is 0 / 0.
  std::optional<double> precision() const;
  std::optional<double> recall() const;
  std::optional<double> f1() const;
};

// Of one predicted value.
struct ValueScore {
  double mae = 0, rmse = 0;  // mean absolute error, root of the mean squared error
  std::optional<double> r2;  // 1 - squared error / squared distance of the targets from their mean; none if that is 0
};

struct Scores {
  std::vector<ValueScore> values;  // with TargetKind::values
  std::vector<ClassScore> labels;  // with TargetKind::labels
  double exact_match = 0;          // share of the samples of which all labels are right

  // Over all values: the mean of the MAE, the root of the mean squared error, the mean of the R2 that there are.
  ValueScore all_values() const;
  // F1 of the counts of all labels together, and the mean of the labels' F1 that there are.
  std::optional<double> f1_micro() const;
  std::optional<double> f1_macro() const;
  // Those over all values or labels, by the names that metrics and summaries use; a score without value is NaN.
  std::vector<observe::Score> named() const;
};

// Whether the network says that a label holds: a probability of at least 0.5. `output`: before the sigmoid.
bool says_label(float output);

// The number of sums per batch; 0 for classes, which need none.
std::size_t score_sums(const data::DataSpec& spec);
// Sets `sums` to those of a batch. `outputs`, `targets`: samples x spec.classes, outputs as the network gives them,
// targets in the data's own units. Scores of values are in these units.
void sum_scores(const data::DataSpec& spec, const data::TargetScale& scale, std::int64_t samples,
                std::span<const float> outputs, std::span<const float> targets, std::span<double> sums);
// `sums`: of all batches, in their order.
Scores scores_of(const data::DataSpec& spec, std::span<const double> sums);

}  // namespace trireme::train
