// Scores against their definitions, however the samples are cut into batches.
#include "train/evaluation/scores.h"

#include <gtest/gtest.h>

#include <cmath>

#include "base/rng.h"

namespace trireme::train {
namespace {

using data::TargetKind;

data::DataSpec spec_of(TargetKind target, std::int64_t width) { return {{{1}}, target, width, {}}; }

struct Samples {
  std::int64_t width = 1;
  std::vector<float> outputs, targets;
  std::int64_t count() const { return static_cast<std::int64_t>(outputs.size()) / width; }
};

// Scores of samples that are evaluated in batches of this size.
Scores scored(TargetKind target, const Samples& all, std::int64_t batch, const data::TargetScale& scale = {}) {
  const data::DataSpec spec = spec_of(target, all.width);
  std::vector<double> sums;
  for (std::int64_t first = 0; first < all.count(); first += batch) {
    const std::int64_t samples = std::min(batch, all.count() - first);
    const auto part = [&](const std::vector<float>& of) {
      return std::span(of).subspan(static_cast<std::size_t>(first * all.width),
                                   static_cast<std::size_t>(samples * all.width));
    };
    std::vector<double> own(score_sums(spec));
    sum_scores(spec, scale, samples, part(all.outputs), part(all.targets), own);
    sums.insert(sums.end(), own.begin(), own.end());
  }
  return scores_of(spec, sums);
}

TEST(ScoresOfValues, ByHand) {
  // Errors 1, -1, 2, 0; targets 1, 2, 3, 6 with mean 3 and squared distances 4 + 1 + 0 + 9.
  const Samples samples{1, {2, 1, 5, 6}, {1, 2, 3, 6}};
  const Scores scores = scored(TargetKind::values, samples, 4);
  ASSERT_EQ(scores.values.size(), 1u);
  EXPECT_DOUBLE_EQ(scores.values[0].mae, 1);
  EXPECT_DOUBLE_EQ(scores.values[0].rmse, std::sqrt(1.5));
  EXPECT_DOUBLE_EQ(scores.values[0].r2.value(), 1 - 6.0 / 14);
  EXPECT_EQ(scores.all_values().r2, scores.values[0].r2);
}

// Outputs as the network learns values, targets in the data's own units: 10 + 4 x, and -100 + 0.5 x.
TEST(ScoresOfValues, AreInTheDatasUnits) {
  const data::TargetScale scale{{10, -100}, {4, 0.5}};
  const Samples samples{2, {1, 0, -1, 2}, {13, -100, 8, -101}};  // that is 14, -100, 6, -99
  const Scores scores = scored(TargetKind::values, samples, 1, scale);
  EXPECT_DOUBLE_EQ(scores.values[0].mae, 1.5);
  EXPECT_DOUBLE_EQ(scores.values[0].rmse, std::sqrt(2.5));
  EXPECT_DOUBLE_EQ(scores.values[0].r2.value(), 1 - 5 / 12.5);
  EXPECT_DOUBLE_EQ(scores.values[1].mae, 1);
  EXPECT_DOUBLE_EQ(scores.values[1].r2.value(), 1 - 4 / 0.5);
}

// The targets' mean is large against their spread: sums of squares would lose R2.
TEST(ScoresOfValues, DoNotDependOnBatchesOrOnTheMean) {
  const base::CounterRng rng(7, base::Purpose::probe, 0, 0);
  Samples samples{2, {}, {}};
  for (std::uint64_t i = 0; i < 2000; ++i) {
    const float value = 4e6f + 8 * std::floor(16 * rng.uniform(2 * i));  // a float without rounding
    samples.targets.push_back(value);
    samples.outputs.push_back(value + (rng.uniform(2 * i + 1) < 0.5f ? 4.0f : -4.0f));
  }
  for (const std::int64_t batch : {1, 7, 64, 1000}) {
    const Scores scores = scored(TargetKind::values, samples, batch);
    for (std::size_t k = 0; k < 2; ++k) {
      long double mean = 0, spread = 0;
      for (std::size_t s = k; s < samples.targets.size(); s += 2) mean += samples.targets[s];
      mean /= 1000;
      for (std::size_t s = k; s < samples.targets.size(); s += 2)
        spread += (samples.targets[s] - mean) * (samples.targets[s] - mean);
      EXPECT_DOUBLE_EQ(scores.values[k].mae, 4);
      EXPECT_DOUBLE_EQ(scores.values[k].rmse, 4);
      EXPECT_NEAR(scores.values[k].r2.value(), static_cast<double>(1 - 16000 / spread), 1e-12) << batch;
    }
  }
}

TEST(ScoresOfValues, OverAllOfThem) {
  // The second target never changes: it has no R2. The third is predicted by its mean: R2 0.
  const Samples samples{3, {1, 5, 2, 3, 5, 2}, {1, 4, 1, 3, 4, 3}};
  const Scores scores = scored(TargetKind::values, samples, 1);
  EXPECT_FALSE(scores.values[1].r2.has_value());
  EXPECT_DOUBLE_EQ(scores.values[0].r2.value(), 1);
  EXPECT_DOUBLE_EQ(scores.values[2].r2.value(), 0);
  const ValueScore all = scores.all_values();
  EXPECT_DOUBLE_EQ(all.r2.value(), 0.5);
  EXPECT_DOUBLE_EQ(all.mae, 2.0 / 3);
  EXPECT_DOUBLE_EQ(all.rmse, std::sqrt(2.0 / 3));
  const Scores constant = scored(TargetKind::values, {1, {1, 2}, {3, 3}}, 2);
  EXPECT_TRUE(std::isnan(constant.named()[2].value));
  EXPECT_EQ(constant.named()[2].name, "r2");
}

TEST(ScoresOfLabels, ByHand) {
  // Outputs above 0 say that a label holds. Label 0: 2 right of 2 predicted and 3 that have it; label 1: 1 of 2 and 1;
  // nobody has or says label 2.
  const Samples samples{3, {1, 2, -1, 3, 1, -9, -1, -2, -3}, {1, 1, 0, 1, 0, 0, 1, 0, 0}};
  for (const std::int64_t batch : {1, 2, 3}) {
    const Scores scores = scored(TargetKind::labels, samples, batch);
    EXPECT_DOUBLE_EQ(scores.labels[0].f1().value(), 4.0 / 5);
    EXPECT_DOUBLE_EQ(scores.labels[1].f1().value(), 2.0 / 3);
    EXPECT_FALSE(scores.labels[2].f1().has_value());
    EXPECT_DOUBLE_EQ(scores.f1_micro().value(), 6.0 / 8);
    EXPECT_DOUBLE_EQ(scores.f1_macro().value(), (4.0 / 5 + 2.0 / 3) / 2);
    EXPECT_DOUBLE_EQ(scores.exact_match, 1.0 / 3);
  }
}

TEST(ScoresOfClasses, AreNone) {
  EXPECT_EQ(score_sums(spec_of(TargetKind::classes, 10)), 0u);
  EXPECT_TRUE(scores_of(spec_of(TargetKind::classes, 10), {}).named().empty());
}

}  // namespace
}  // namespace trireme::train
