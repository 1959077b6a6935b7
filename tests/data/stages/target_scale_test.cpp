// Targets of values as they are learnt: their mean and deviation, and the way back.
#include "data/stages/target_scale.h"

#include <gtest/gtest.h>

#include <cmath>

#include "data/dataset/columns.h"
#include "data/helpers.h"
#include "data/stages/subset.h"

namespace trireme::data {
namespace {

// One input, `width` values a sample.
DatasetPtr with_targets(std::vector<float> targets, std::int64_t width) {
  struct Memory {
    std::vector<float> inputs, targets;
  };
  const auto samples = static_cast<std::int64_t>(targets.size()) / width;
  const auto memory =
      std::make_shared<Memory>(Memory{std::vector<float>(static_cast<std::size_t>(samples)), std::move(targets)});
  Columns columns;
  columns.samples = samples;
  columns.inputs = {{{1}, ValueType::real, column_data(memory->inputs)}};
  columns.target = {{width}, ValueType::real, column_data(memory->targets)};
  columns.memory = memory;
  return column_source({{{1}}, TargetKind::values, width, {}}, std::move(columns));
}

TEST(TargetScaleStage, HasMeanAndDeviationOfEveryValue) {
  // 2, 4, 6, 8: mean 5, deviation sqrt(5). The second never changes, and 0.1 is no sum of powers of two.
  const DatasetPtr set = with_targets({2, 0.1f, 4, 0.1f, 6, 0.1f, 8, 0.1f}, 2);
  const TargetScale scale = compute_target_scale(*set);
  EXPECT_EQ(scale.mean, (std::vector<double>{5, static_cast<double>(0.1f)}));
  EXPECT_EQ(scale.deviation, (std::vector<double>{std::sqrt(5.0), 1}));
  const DatasetPtr scaled = scale_targets(set, scale);
  EXPECT_EQ(fetch_sample(*scaled, 0).target, (std::vector<float>{static_cast<float>(-3 / std::sqrt(5.0)), 0}));
  std::array<StoredValues, kMaxInputs> stored{};
  std::array<float, 2> target{};
  ASSERT_TRUE(scaled->view(3, stored, target.data()));
  EXPECT_EQ(target[0], static_cast<float>(3 / std::sqrt(5.0)));
  EXPECT_EQ(scaled->size(), 4);
  EXPECT_EQ(scale_targets(set, {}), set);
}

// Sums of squares would lose a deviation this small against the mean.
TEST(TargetScaleStage, IsExactFarFromZero) {
  std::vector<float> near, far;
  for (int i = 0; i < 64; ++i) {
    near.push_back(static_cast<float>(i * 37 % 64));
    far.push_back(near.back() + 8388608);  // 2^23: no rounding
  }
  const TargetScale a = compute_target_scale(*with_targets(near, 1)), b = compute_target_scale(*with_targets(far, 1));
  EXPECT_EQ(a.mean[0], 31.5);
  EXPECT_EQ(b.mean[0], 8388608 + 31.5);
  EXPECT_EQ(a.deviation[0], std::sqrt((64.0 * 64 - 1) / 12));
  EXPECT_EQ(b.deviation, a.deviation);
  const DatasetPtr one = scale_targets(with_targets(near, 1), a), other = scale_targets(with_targets(far, 1), b);
  for (std::int64_t i = 0; i < 64; ++i) EXPECT_EQ(fetch_sample(*one, i).target, fetch_sample(*other, i).target);
}

TEST(TargetScaleStage, IsUndoneByRestore) {
  const TargetScale scale{{300000, -2}, {50000, 0.25}};
  std::vector<float> values{350000, -1, 300000, -2, 250000, -4};
  standardise(scale, values);
  EXPECT_EQ(values, (std::vector<float>{1, 4, 0, 0, -1, -8}));
  restore(scale, values);
  EXPECT_EQ(values, (std::vector<float>{350000, -1, 300000, -2, 250000, -4}));
  restore({}, values);
  EXPECT_EQ(values[0], 350000);
}

TEST(TargetScaleStage, OfOtherTargetsIsRefused) {
  const DatasetPtr set = with_targets({1, 2, 3, 4}, 2);
  expect_user_error([&] { scale_targets(set, {{1}, {1}}); }, {"1 values", "2 values"});
  expect_user_error([&] { scale_targets(set, {{1, 2}, {1}}); }, {"1 values", "2 values"});
  expect_user_error(
      [&] {
        scale_targets(std::make_shared<CountingDataset>(set->spec().inputs, 4), {{1}, {1}});
      },
      {"1 values", "10 classes"});
}

}  // namespace
}  // namespace trireme::data
