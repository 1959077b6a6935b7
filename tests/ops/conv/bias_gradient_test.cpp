// The one pass over the output's gradient: sums, ReLU's zeros, and the same bits on every instruction set.
#include "ops/conv/direct/bias_gradient.h"

#include <gtest/gtest.h>

#include <limits>
#include <random>
#include <vector>

#include "base/cpu/simd.h"

namespace trireme::ops {
namespace {

using tensor::Layout;

struct Result {
  std::vector<float> bias, diff;
};

Result run(const Layout& layout, std::vector<float> diff, const float* dst, base::Isa isa) {
  const base::Isa before = base::active_isa();
  base::set_active_isa(isa);
  std::vector<float> bias(static_cast<std::size_t>(layout.shape[1]), -1.0f);
  bias_gradient(layout, diff.data(), dst, bias.data());
  base::set_active_isa(before);
  return {bias, diff};
}

TEST(BiasGradient, AddsWhatReluLetsThrough) {
  std::mt19937 random(7);
  std::uniform_real_distribution<float> values(-1.0f, 1.0f);
  for (const std::int64_t block : {8, 16})
    for (const tensor::Shape& shape :
         {tensor::Shape{1, 16, 1}, {3, 32, 5}, {2, 16, 7, 9}, {5, 24, 3}, {2, 3, 11}, {1, 48, 64}, {4, 17, 2, 2}})
      for (const bool relu : {false, true}) {
        SCOPED_TRACE(shape.text());
        const Layout layout = Layout::channels_blocked(shape, block);
        ASSERT_TRUE(bias_gradient_fits(layout));
        std::vector<float> diff(static_cast<std::size_t>(layout.elements())), dst(diff.size());
        for (float& x : diff) x = values(random);
        for (float& x : dst) x = values(random);
        const std::int64_t blocks = (shape[1] + block - 1) / block, positions = shape.count_from(2);
        std::vector<double> expected(static_cast<std::size_t>(shape[1]));
        std::vector<float> passed = diff;
        for (std::size_t i = 0; i < diff.size(); ++i) {
          if (relu && dst[i] <= 0) passed[i] = 0;
          const auto at = static_cast<std::int64_t>(i);
          const std::int64_t c = at / (positions * block) % blocks * block + at % block;
          if (c < shape[1]) expected[static_cast<std::size_t>(c)] += static_cast<double>(passed[i]);
        }
        const Result first = run(layout, diff, relu ? dst.data() : nullptr, base::Isa::generic);
        EXPECT_EQ(first.diff, passed);
        const double terms = static_cast<double>(shape[0] * positions);
        // Every addition rounds a sum of at most `terms` values of at most 1.
        const double bound = terms * terms * 0.5 * static_cast<double>(std::numeric_limits<float>::epsilon());
        for (std::size_t c = 0; c < expected.size(); ++c)
          EXPECT_NEAR(static_cast<double>(first.bias[c]), expected[c], bound) << c;
        for (const base::Isa isa : {base::Isa::avx2, base::Isa::avx512}) {
          if (isa > base::best_isa()) continue;
          const Result other = run(layout, diff, relu ? dst.data() : nullptr, isa);
          EXPECT_EQ(other.bias, first.bias);
          EXPECT_EQ(other.diff, first.diff);
        }
      }
}

TEST(BiasGradient, FitsBlocksOnly) {
  const tensor::Shape shape{2, 16, 5};
  EXPECT_FALSE(bias_gradient_fits(Layout::plain(shape)));
  EXPECT_FALSE(bias_gradient_fits(Layout::channels_last(shape)));
  EXPECT_FALSE(bias_gradient_fits(Layout::channels_last({2, 8, 5})));
  EXPECT_FALSE(bias_gradient_fits(Layout::plain({2, 16})));
}

}  // namespace
}  // namespace trireme::ops
