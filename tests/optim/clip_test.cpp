#include "optim/clip.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "base/cpu/simd.h"
#include "base/error.h"

namespace trireme::optim {
namespace {

TEST(Clip, SumsOfSquaresAreExactForSmallIntegers) {
  // Values 1 ... n: the sum is n (n+1) (2n+1) / 6 and every partial sum is a whole number below 2^53.
  for (const std::int64_t n : {0, 1, 15, 16, 17, 4095, 4096, 4097, 12289, 100003}) {
    std::vector<float> values(static_cast<std::size_t>(n));
    for (std::int64_t i = 0; i < n; ++i) values[static_cast<std::size_t>(i)] = static_cast<float>(i + 1);
    EXPECT_EQ(sum_of_squares(values), static_cast<double>(n * (n + 1) * (2 * n + 1) / 6)) << n;
  }
}

TEST(Clip, LargeAndSmallFloatsDoNotOverflow) {
  const float large = std::numeric_limits<float>::max();
  EXPECT_EQ(sum_of_squares(std::vector<float>{large}), static_cast<double>(large) * static_cast<double>(large));
  EXPECT_GT(sum_of_squares(std::vector<float>{1e-30f}), 0);
}

TEST(Clip, BlocksAndTreeGiveTheBitsOfTheWhole) {
  std::vector<float> values(5 * kNormBlock + 77);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = 1.0f / static_cast<float>(3 * i + 1);
  const base::Isa before = base::active_isa();
  base::set_active_isa(base::Isa::generic);
  const double whole = sum_of_squares(values);
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
    if (isa > base::best_isa()) continue;
    base::set_active_isa(isa);
    std::vector<double> sums(6);
    for (int block = 5; block >= 0; --block) {  // any order of computing
      const std::int64_t begin = block * kNormBlock;
      sums[static_cast<std::size_t>(block)] = block_sum_of_squares(
          values.data() + begin, std::min(kNormBlock, static_cast<std::int64_t>(values.size()) - begin));
    }
    EXPECT_EQ(tree_sum(sums), whole) << base::isa_name(isa);
  }
  base::set_active_isa(before);
}

TEST(Clip, TreeSplitsAtPowersOfTwo) {
  // 1e16 swallows a single 1 but not a pair: ((a + 1) + (1 + 1)) + 1 differs from a sum in sequence.
  const std::vector<double> sums{1e16, 1, 1, 1, 1};
  EXPECT_EQ(tree_sum(sums), ((1e16 + 1) + (1.0 + 1.0)) + 1);
  EXPECT_EQ(tree_sum(std::vector<double>{}), 0);
  EXPECT_EQ(tree_sum(std::vector<double>{3}), 3);
  EXPECT_EQ(tree_sum(std::vector<double>{1, 1e16, 1}), (1 + 1e16) + 1);
}

TEST(Clip, Factor) {
  EXPECT_EQ(clip_factor(0, 1), 1);
  EXPECT_EQ(clip_factor(0.5, 1), 1);
  EXPECT_DOUBLE_EQ(clip_factor(4, 1), 1 / (4 + 1e-6));
  EXPECT_EQ(clip_factor(std::numeric_limits<double>::infinity(), 1), 0);
  EXPECT_TRUE(std::isnan(clip_factor(std::numeric_limits<double>::quiet_NaN(), 1)));
  EXPECT_THROW((void)clip_factor(1, 0), base::Error);
  EXPECT_THROW((void)block_sum_of_squares(nullptr, kNormBlock + 1), base::Error);
}

}  // namespace
}  // namespace trireme::optim
