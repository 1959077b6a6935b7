// Counter-based random numbers: streams differ, and their moments are those of the distributions.
#include "base/rng.h"

#include <gtest/gtest.h>

#include <cmath>
#include <set>
#include <vector>

namespace trireme::base {
namespace {

TEST(Rng, EveryPartOfTheCounterMatters) {
  std::set<std::uint64_t> keys;
  std::size_t made = 0;
  const Purpose purposes[] = {Purpose::shuffle,   Purpose::augment, Purpose::dropout, Purpose::init,
                              Purpose::synthetic, Purpose::split,   Purpose::probe};
  for (const std::uint64_t seed : {0ull, 1ull, 2ull, ~0ull})
    for (const Purpose purpose : purposes)
      for (const std::uint64_t epoch : {0ull, 1ull, 2ull, 179ull, ~0ull})
        for (const std::uint64_t index : {0ull, 1ull, 2ull, 49'999ull, 1'281'166ull, ~0ull}) {
          keys.insert(CounterRng(seed, purpose, epoch, index).key());
          ++made;
        }
  EXPECT_EQ(keys.size(), made);
}

TEST(Rng, NeighbouringStreamsShareNoNumbers) {
  std::set<std::uint64_t> seen;
  for (std::uint64_t index = 0; index < 100; ++index)
    for (std::uint64_t position = 0; position < 100; ++position)
      seen.insert(CounterRng(1, Purpose::dropout, 3, index).bits(position));
  EXPECT_EQ(seen.size(), 10'000u);
}

TEST(Rng, IsAPureFunction) {
  constexpr CounterRng rng(7, Purpose::init, 1, 2);
  static_assert(rng.bits(5) == CounterRng(7, Purpose::init, 1, 2).bits(5));
  const std::uint64_t before = rng.bits(3);
  for (std::uint64_t position = 100; position-- > 0;) (void)rng.bits(position);
  EXPECT_EQ(rng.bits(3), before);
}

// Mean, variance and the correlation of neighbours, within five standard errors.
TEST(Rng, UniformMoments) {
  const CounterRng rng(42, Purpose::probe);
  const int count = 1 << 20;
  double sum = 0, squares = 0, neighbours = 0, before = 0;
  float least = 1, most = 0;
  for (int i = 0; i < count; ++i) {
    const float u = rng.uniform(static_cast<std::uint64_t>(i));
    const double centred = static_cast<double>(u) - 0.5;
    sum += centred;
    squares += centred * centred;
    neighbours += centred * before;
    before = centred;
    least = std::min(least, u);
    most = std::max(most, u);
  }
  const double n = count;
  EXPECT_NEAR(sum / n, 0, 5 * std::sqrt(1.0 / 12 / n));
  EXPECT_NEAR(squares / n, 1.0 / 12, 5 * std::sqrt(1.0 / 180 / n));
  EXPECT_NEAR(neighbours / n, 0, 5 / 12.0 / std::sqrt(n));
  EXPECT_GE(least, 0);
  EXPECT_LT(most, 1);
  EXPECT_LT(least, 1e-4f);
  EXPECT_GT(most, 1 - 1e-4f);
}

TEST(Rng, BelowStaysInBounds) {
  const CounterRng rng(3, Purpose::shuffle);
  for (const std::uint64_t n : {1ull, 2ull, 3ull, 10ull, 1ull << 40, ~0ull})
    for (std::uint64_t position = 0; position < 1000; ++position) ASSERT_LT(rng.below(position, n), n);
  std::vector<int> counts(7, 0);
  const int draws = 70'000;
  for (int i = 0; i < draws; ++i) ++counts[rng.below(static_cast<std::uint64_t>(i), 7)];
  double chi_square = 0;
  for (const int count : counts) chi_square += (count - 10'000.0) * (count - 10'000.0) / 10'000.0;
  EXPECT_LT(chi_square, 27.9);  // 6 degrees of freedom, one in 10000
}

TEST(Rng, NormalMoments) {
  const CounterRng rng(11, Purpose::init);
  const int count = 200'000;
  double moment[5] = {};
  int inside = 0;
  for (int i = 0; i < count; ++i) {
    const double x = static_cast<double>(rng.normal(static_cast<std::uint64_t>(i)));
    ASSERT_TRUE(std::isfinite(x));
    double power = 1;
    for (double& m : moment) m += power / count, power *= x;
    inside += std::abs(x) < 1 ? 1 : 0;
  }
  const double error = 1 / std::sqrt(static_cast<double>(count));
  EXPECT_NEAR(moment[1], 0, 5 * error);
  EXPECT_NEAR(moment[2], 1, 5 * std::sqrt(2.0) * error);
  EXPECT_NEAR(moment[3], 0, 5 * std::sqrt(15.0) * error);
  EXPECT_NEAR(moment[4], 3, 5 * std::sqrt(96.0) * error);
  EXPECT_NEAR(static_cast<double>(inside) / count, std::erf(std::sqrt(0.5)), 5 * 0.47 * error);
}

}  // namespace
}  // namespace trireme::base
