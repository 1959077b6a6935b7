// The passes of dense layers by themselves: exact where arithmetic is, the same bits however the work is cut.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "base/cpu/simd.h"
#include "ops/dense/dense_passes.h"
#include "tensor/buffer.h"

namespace trireme::ops::dense_passes {
namespace {

using tensor::Buffer;

std::vector<base::Isa> sets() {
  std::vector<base::Isa> all;
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512})
    if (isa <= base::best_isa()) all.push_back(isa);
  return all;
}

Buffer poisoned(std::int64_t floats) {
  Buffer buffer(static_cast<std::size_t>(floats) * sizeof(float));
  std::memset(buffer.data(), 0xff, buffer.bytes());
  return buffer;
}

// Whole numbers from -3 to 3, or fractions.
Buffer filled(std::int64_t floats, std::uint32_t seed, bool whole) {
  Buffer buffer = poisoned(floats);
  for (float& value : buffer.span()) {
    seed = seed * 1664525u + 1013904223u;
    value = whole ? static_cast<float>((seed >> 16) % 7) - 3 : static_cast<float>(seed >> 8) / 8388608.0f - 1;
  }
  return buffer;
}

struct Layer {
  Layer(std::int64_t samples, std::int64_t outputs, std::int64_t inputs, bool whole)
      : m(samples),
        n(outputs),
        k(inputs),
        src(filled(m * k, 1, whole)),
        weights(filled(n * k, 2, whole)),
        bias(filled(n, 3, whole)),
        diff_dst(filled(m * n, 4, whole)),
        panel(poisoned(std::max({dots_panel_floats(m, k), sums_panel_floats(m, k), sums_panel_floats(n, k)}))) {}

  // Of `count` samples from `first` on.
  Buffer forward(base::Isa isa, std::int64_t first, std::int64_t count, bool relu = false) const {
    Buffer dst = poisoned(count * n);
    passes(isa).dots({.src = src.floats() + first * k,
                      .weights = weights.floats(),
                      .bias = bias.floats(),
                      .dst = dst.floats(),
                      .m = count,
                      .n = n,
                      .k = k,
                      .relu = relu,
                      .panel = panel.floats()});
    return dst;
  }
  Buffer data(base::Isa isa, std::int64_t first, std::int64_t count) const {
    Buffer diff_src = poisoned(count * k);
    passes(isa).sums({.factors = diff_dst.floats() + first * n,
                      .factor_of_result = n,
                      .factor_of_term = 1,
                      .terms = weights.floats(),
                      .results = diff_src.floats(),
                      .result_count = count,
                      .term_count = n,
                      .k = k,
                      .panel = panel.floats()});
    return diff_src;
  }
  // Of `count` outputs from `first` on.
  Buffer weights_gradient(base::Isa isa, std::int64_t first, std::int64_t count) const {
    Buffer gradient = poisoned(count * k);
    passes(isa).sums({.factors = diff_dst.floats() + first,
                      .factor_of_result = 1,
                      .factor_of_term = n,
                      .terms = src.floats(),
                      .results = gradient.floats(),
                      .result_count = count,
                      .term_count = m,
                      .k = k,
                      .panel = panel.floats()});
    return gradient;
  }

  std::int64_t m, n, k;
  Buffer src, weights, bias, diff_dst, panel;
};

void expect_rows(const char* what, const Buffer& all, const Buffer& some, std::int64_t first, std::int64_t count,
                 std::int64_t width) {
  EXPECT_EQ(
      std::memcmp(all.floats() + first * width, some.floats(), static_cast<std::size_t>(count * width) * sizeof(float)),
      0)
      << what << ": rows " << first << " to " << first + count << " have other bits alone";
}

// Sums of products of small whole numbers are exact in any order.
TEST(DensePasses, AreExactOnWholeNumbersOfAnySizes) {
  const std::int64_t sizes[][3] = {{1, 1, 1},    {1, 64, 16},   {2, 3, 15},   {3, 66, 17},   {5, 130, 1025},
                                   {6, 4, 1024}, {7, 67, 31},   {13, 65, 33}, {14, 129, 63}, {15, 10, 2049},
                                   {25, 71, 47}, {42, 64, 160}, {64, 5, 100}, {65, 77, 129}, {97, 15, 40}};
  for (const auto& [m, n, k] : sizes) {
    const Layer layer(m, n, k, true);
    const float *x = layer.src.floats(), *w = layer.weights.floats(), *g = layer.diff_dst.floats();
    std::vector<float> dst(static_cast<std::size_t>(m * n)), diff_src(static_cast<std::size_t>(m * k)),
        gradient(static_cast<std::size_t>(n * k));
    for (std::int64_t a = 0; a < m; ++a)
      for (std::int64_t b = 0; b < n; ++b) {
        float& y = dst[static_cast<std::size_t>(a * n + b)] = layer.bias.floats()[b];
        for (std::int64_t c = 0; c < k; ++c) {
          y += x[a * k + c] * w[b * k + c];
          diff_src[static_cast<std::size_t>(a * k + c)] += g[a * n + b] * w[b * k + c];
          gradient[static_cast<std::size_t>(b * k + c)] += g[a * n + b] * x[a * k + c];
        }
      }
    for (const base::Isa isa : sets()) {
      SCOPED_TRACE(std::to_string(m) + " samples, " + std::to_string(k) + " -> " + std::to_string(n) + ", " +
                   std::string(base::isa_name(isa)));
      const auto same = [](const std::vector<float>& expected, const Buffer& got) {
        return std::equal(expected.begin(), expected.end(), got.floats());
      };
      EXPECT_TRUE(same(dst, layer.forward(isa, 0, m)));
      EXPECT_TRUE(same(diff_src, layer.data(isa, 0, m)));
      EXPECT_TRUE(same(gradient, layer.weights_gradient(isa, 0, n)));
      std::vector<float> rectified = dst;
      for (float& y : rectified) y = std::max(y, 0.0f);
      EXPECT_TRUE(same(rectified, layer.forward(isa, 0, m, true)));
    }
  }
}

// The order of additions depends on K alone. More than 4 M weights: with few samples they are then read another way.
TEST(DensePasses, GiveARowTheSameBitsInAnyBatch) {
  const Layer layer(26, 1026, 4112, false);
  std::vector<Buffer> forward, data;
  for (const base::Isa isa : sets()) {
    if (isa == base::Isa::generic) continue;  // slow; the table of ops compares it
    SCOPED_TRACE(base::isa_name(isa));
    forward.push_back(layer.forward(isa, 0, layer.m));
    data.push_back(layer.data(isa, 0, layer.m));
    for (const auto& [first, count] : {std::pair{0, 1}, {1, 5}, {6, 8}, {14, 12}}) {
      expect_rows("dst", forward.back(), layer.forward(isa, first, count), first, count, layer.n);
      expect_rows("diff_src", data.back(), layer.data(isa, first, count), first, count, layer.k);
    }
  }
  for (std::size_t i = 1; i < forward.size(); ++i) {
    expect_rows("dst", forward[0], forward[i], 0, layer.m, layer.n);
    expect_rows("diff_src", data[0], data[i], 0, layer.m, layer.k);
  }
}

// A gradient that is too large for the caches is written past them.
TEST(DensePasses, GiveTheGradientOfAnOutputTheSameBitsAmongAnyOthers) {
  const Layer layer(3, 2200, 4096, false);
  for (const base::Isa isa : sets()) {
    if (isa == base::Isa::generic) continue;
    SCOPED_TRACE(base::isa_name(isa));
    const Buffer all = layer.weights_gradient(isa, 0, layer.n);
    for (const auto& [first, count] : {std::pair{0, 1}, {1, 30}, {2150, 50}})
      expect_rows("weights", all, layer.weights_gradient(isa, first, count), first, count, layer.k);
  }
}

TEST(DensePasses, ANanStaysOneBehindAReluAndMinusZeroDoesNot) {
  const Layer layer(2, 5, 3, true);
  for (const base::Isa isa : sets()) {
    for (float& x : layer.src.span().first(3)) x = std::nanf("");
    for (float& b : layer.bias.span()) b = -0.0f;
    for (float& x : layer.src.span().subspan(3, 3)) x = 0;
    const Buffer dst = layer.forward(isa, 0, 2, true);
    for (std::int64_t i = 0; i < 5; ++i) {
      EXPECT_TRUE(std::isnan(dst.floats()[i])) << base::isa_name(isa);
      EXPECT_FALSE(std::signbit(dst.floats()[5 + i])) << base::isa_name(isa);
    }
  }
}

}  // namespace
}  // namespace trireme::ops::dense_passes
