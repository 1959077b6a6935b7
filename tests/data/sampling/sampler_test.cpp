#include "data/sampling/sampler.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/error.h"
#include "data/helpers.h"
#include "data/stages/subset.h"

namespace trireme::data {
namespace {

std::vector<std::int64_t> all(const Permutation& order) {
  std::vector<std::int64_t> values;
  for (std::int64_t i = 0; i < order.size(); ++i) values.push_back(order(i));
  return values;
}

TEST(Sampler, IsABijectionForAnySize) {
  for (const std::int64_t n : {1, 2, 3, 4, 5, 7, 8, 9, 100, 4096, 4097, 60'000})
    for (const std::uint64_t epoch : {0, 1, 17}) {
      std::vector<bool> seen(static_cast<std::size_t>(n));
      for (const std::int64_t value : all(epoch_order(n, 42, epoch, true))) {
        ASSERT_TRUE(value >= 0 && value < n);
        ASSERT_FALSE(seen[static_cast<std::size_t>(value)]) << n;
        seen[static_cast<std::size_t>(value)] = true;
      }
    }
}

TEST(Sampler, WorksForHugeSizesWithoutMemory) {
  const std::int64_t n = (std::int64_t{1} << 40) + 12345;
  const Permutation order = epoch_order(n, 1, 0, true);
  std::set<std::int64_t> seen;
  for (std::int64_t i = 0; i < 1000; ++i) {
    const std::int64_t value = order(n - 1 - i);
    EXPECT_TRUE(value >= 0 && value < n);
    EXPECT_TRUE(seen.insert(value).second);
  }
}

TEST(Sampler, SeedAndEpochDecideAndNothingElse) {
  const auto order = all(epoch_order(1000, 1, 0, true));
  EXPECT_EQ(order, all(epoch_order(1000, 1, 0, true)));
  const auto other = all(epoch_order(1000, 1, 1, true));
  const auto moved = std::inner_product(order.begin(), order.end(), other.begin(), 0, std::plus<>(),
                                        [](auto a, auto b) { return a != b ? 1 : 0; });
  EXPECT_GT(moved, 970);
  EXPECT_NE(order, all(epoch_order(1000, 2, 0, true)));
}

TEST(Sampler, WithoutShuffleIsTheIdentity) {
  for (const std::uint64_t epoch : {0, 3})
    EXPECT_EQ(all(epoch_order(4, 9, epoch, false)), (std::vector<std::int64_t>{0, 1, 2, 3}));
}

TEST(Sampler, APositionOutsideIsRefused) {
  EXPECT_THROW(epoch_order(5, 0, 0, true)(5), base::Error);
  EXPECT_THROW(epoch_order(5, 0, 0, true)(-1), base::Error);
  EXPECT_THROW(epoch_order(0, 0, 0, true)(0), base::Error);
}

// Every order of 3, 4 and 5 elements comes equally often: chi-square with k - 1 degrees of freedom stays within 4
// standard deviations (sqrt(2 (k - 1))) of its mean.
TEST(Sampler, AllOrdersOfFewElementsAreEquallyLikely) {
  for (const auto& [n, orders] : {std::pair{2, 2}, {3, 6}, {4, 24}, {5, 120}}) {
    std::map<std::vector<std::int64_t>, int> counts;
    const int each = 200, trials = orders * each;
    for (int epoch = 0; epoch < trials; ++epoch)
      ++counts[all(epoch_order(n, 7, static_cast<std::uint64_t>(epoch), true))];
    EXPECT_EQ(counts.size(), static_cast<std::size_t>(orders));
    double chi = 0;
    for (const auto& [order, count] : counts) chi += (count - 1.0 * each) * (count - each) / each;
    EXPECT_LT(chi, orders - 1 + 4 * std::sqrt(2.0 * (orders - 1))) << n;
  }
}

// Where an element lands is uniform over positions, and neighbours do not stay neighbours.
TEST(Sampler, PlacesAreUniformForALargerSet) {
  const int n = 100, epochs = 5000;
  std::vector<std::vector<int>> at(n, std::vector<int>(n));
  int neighbours = 0;
  for (int epoch = 0; epoch < epochs; ++epoch) {
    const auto order = all(epoch_order(n, 3, static_cast<std::uint64_t>(epoch), true));
    for (std::size_t i = 0; i < n; ++i) {
      ++at[i][static_cast<std::size_t>(order[i])];
      if (i > 0 && order[i] == order[i - 1] + 1) ++neighbours;
    }
  }
  double chi = 0;
  for (const auto& row : at)
    for (const int count : row) chi += (count - 50.0) * (count - 50.0) / 50.0;
  const double freedom = 99.0 * 99.0;
  EXPECT_NEAR(chi, freedom, 5 * std::sqrt(2 * freedom));
  EXPECT_NEAR(neighbours, epochs * 0.99, 5 * std::sqrt(epochs * 0.99));
}

TEST(Subset, KeepsTheOrderGivenAndTheSamplesOfTheSource) {
  const auto source = std::make_shared<CountingDataset>(std::vector<tensor::Shape>{{2}}, 20);
  const DatasetPtr view = subset(source, {7, 3, 3});
  ASSERT_EQ(view->size(), 3);
  EXPECT_EQ(fetch_sample(*view, 0).inputs[0][0], 7000.0f);
  EXPECT_EQ(fetch_sample(*view, 2).inputs[0][1], 3001.0f);
  EXPECT_THROW(fetch_sample(*view, 3), base::Error);
  EXPECT_THROW(subset(source, {20}), base::Error);
}

TEST(Subset, LimitTakesTheFirst) {
  const auto source = std::make_shared<CountingDataset>(std::vector<tensor::Shape>{{2}}, 20);
  EXPECT_EQ(limit(source, 5)->size(), 5);
  EXPECT_EQ(fetch_sample(*limit(source, 5), 4).inputs[0][0], 4000.0f);
  EXPECT_EQ(limit(source, 20), source);
  EXPECT_EQ(limit(source, 1'000'000), source);
  expect_user_error([&] { limit(source, 0); }, {"0 samples"});
}

TEST(Subset, SplitCoversEverySampleOnce) {
  const auto source = std::make_shared<CountingDataset>(std::vector<tensor::Shape>{{1}}, 1001);
  const DataPair pair = split_validation(source, 0.1, 5);
  EXPECT_EQ(pair.test->size(), 100);
  EXPECT_EQ(pair.train->size(), 901);
  std::set<float> seen;
  float before = -1;
  double sum = 0;
  for (const DatasetPtr& part : {pair.train, pair.test})
    for (std::int64_t i = 0; i < part->size(); ++i) seen.insert(fetch_sample(*part, i).inputs[0][0]);
  for (std::int64_t i = 0; i < pair.test->size(); ++i) {
    const float value = fetch_sample(*pair.test, i).inputs[0][0];
    EXPECT_GT(value, before);
    before = value;
    sum += value / 1000;
  }
  EXPECT_EQ(seen.size(), 1001u);
  EXPECT_NEAR(sum / 100, 500, 5 * 289 / 10.0);  // the mean of 100 uniform choices from 0 ... 1000
  const DataPair again = split_validation(source, 0.1, 5), other = split_validation(source, 0.1, 6);
  bool same = true, differs = false;
  for (std::int64_t i = 0; i < 100; ++i) {
    same = same && fetch_sample(*again.test, i).inputs == fetch_sample(*pair.test, i).inputs;
    differs = differs || fetch_sample(*other.test, i).inputs != fetch_sample(*pair.test, i).inputs;
  }
  EXPECT_TRUE(same);
  EXPECT_TRUE(differs);
}

TEST(Subset, ASplitMayLeaveNoSideEmpty) {
  const auto source = std::make_shared<CountingDataset>(std::vector<tensor::Shape>{{1}}, 10);
  for (const double fraction : {0.0, 1.0, -0.5, 0.01, 0.99, std::nan("")})
    expect_user_error([&] { split_validation(source, fraction, 0); }, {"validation"});
}

// Samples of each class of a part.
std::vector<int> class_counts(const DatasetPtr& part) {
  std::vector<int> counts(static_cast<std::size_t>(part->spec().classes));
  for (std::int64_t i = 0; i < part->size(); ++i) ++counts[static_cast<std::size_t>(fetch_sample(*part, i).target[0])];
  return counts;
}

// 100, 60, 35, 9, 2 and 1 samples of the classes 0 ... 5.
DatasetPtr uneven_classes() {
  const auto source = std::make_shared<CountingDataset>(std::vector<tensor::Shape>{{1}}, 600, 6);
  std::vector<std::int64_t> chosen, left{100, 60, 35, 9, 2, 1};
  for (std::int64_t i = 0; i < 600; ++i)
    if (left[static_cast<std::size_t>(i % 6)]-- > 0) chosen.push_back(i);
  return subset(source, chosen);
}

TEST(Subset, SplitByClassTakesTheShareOfEveryClass) {
  const DatasetPtr source = uneven_classes();
  ASSERT_EQ(source->size(), 207);
  const DataPair pair = split_by_class(source, 0.1, 5);
  // 10, 6 and 3.5 down; of 9 and of 2 samples one each; the only one of the last class stays: 21 = round(0.1 * 207).
  EXPECT_EQ(class_counts(pair.test), (std::vector<int>{10, 6, 3, 1, 1, 0}));
  std::set<float> seen;
  for (const DatasetPtr& part : {pair.train, pair.test})
    for (std::int64_t i = 0; i < part->size(); ++i) seen.insert(fetch_sample(*part, i).inputs[0][0]);
  EXPECT_EQ(seen.size(), 207u) << "every sample is in one part";
  const DataPair again = split_by_class(source, 0.1, 5), other = split_by_class(source, 0.1, 6);
  bool same = true, differs = false;
  for (std::int64_t i = 0; i < 21; ++i) {
    same = same && fetch_sample(*again.test, i).inputs == fetch_sample(*pair.test, i).inputs;
    differs = differs || fetch_sample(*other.test, i).inputs != fetch_sample(*pair.test, i).inputs;
  }
  EXPECT_TRUE(same);
  EXPECT_TRUE(differs);
}

TEST(Subset, SplitByClassLeavesEveryClassInBothParts) {
  const DatasetPtr source = uneven_classes();
  for (const double fraction : {0.01, 0.5, 0.99}) {
    const DataPair pair = split_by_class(source, fraction, 1);
    const std::vector<int> kept = class_counts(pair.test), trained = class_counts(pair.train);
    for (std::size_t c = 0; c < 5; ++c) {
      EXPECT_GE(kept[c], 1) << fraction << " of class " << c;
      EXPECT_GE(trained[c], 1) << fraction << " of class " << c;
    }
  }
  for (const double fraction : {0.0, 1.0, -0.5, std::nan("")})
    expect_user_error([&] { split_by_class(source, fraction, 0); }, {"validation"});
}

}  // namespace
}  // namespace trireme::data
