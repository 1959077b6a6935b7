// Outputs of the transformed convolutions whose receptive field is 0 in all channels are exactly the bias, as a direct
// convolution's are; all others are as near to the reference as ever.
#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <limits>

#include "base/cpu/simd.h"
#include "base/rng.h"
#include "ops/conv/own_conv.h"
#include "ops/conv/toom_cook/toom_cook.h"

namespace trireme::optest {
namespace {

// A convolution over rows x columns; one spatial size is one row.
struct ZeroCase {
  OpCase op;
  ops::ConvOptions options;

  bool flat() const { return options.kernel.size() == 1; }
  std::int64_t height(const Shape& shape) const { return flat() ? 1 : shape[2]; }
  static std::int64_t width(const Shape& shape) { return shape[shape.rank() - 1]; }
};

ZeroCase winograd(const Shape& src, ops::ConvOptions o) {
  o.kernel = {3, 3};
  o.algorithm = ops::ConvAlgorithm::winograd;
  o.padding.resize(2, 0);
  OpCase c{.name = "winograd " + src.text(), .op = ops::conv(o), .shapes = {src}};
  c.bound = winograd_bound(o.padding[0], o.padding[1]);
  return {c, o};
}

ZeroCase toom_cook(const Shape& src, ops::ConvOptions o) {
  o.padding.resize(1, 0);
  OpCase c = own_conv(src, o, ops::make_toom_cook);
  c.name = "toom-cook " + c.name;
  c.bound = toom_cook_bound(o.kernel[0], o.padding[0]);
  c.before_relu = nullptr;
  return {c, o};
}

// Sizes that end in each part of a tile, paddings beyond the kernel's reach, runs of tiles and groups of channels.
std::vector<ZeroCase> zero_cases() {
  return {
      winograd({2, 16, 8, 8}, {.channels = 16, .padding = {1, 1}}),
      winograd({1, 16, 9, 13}, {.channels = 32, .padding = {1, 1}, .relu = true}),
      winograd({3, 48, 10, 7}, {.channels = 16, .padding = {1, 1}, .bias = false}),
      winograd({2, 32, 26, 26}, {.channels = 64, .relu = true}),
      winograd({1, 16, 11, 14}, {.channels = 33, .bias = false, .relu = true}),
      winograd({2, 16, 6, 5}, {.channels = 16, .padding = {3, 4}}),
      winograd({1, 16, 1, 3}, {.channels = 16, .padding = {1, 1}, .relu = true}),
      winograd({3, 16, 34, 29}, {.channels = 16, .padding = {1, 2}, .relu = true}),
      winograd({1, 144, 6, 12}, {.channels = 80, .padding = {1, 1}, .relu = true}),
      toom_cook({3, 16, 96}, {.channels = 16, .kernel = {8}, .relu = true}),
      toom_cook({2, 32, 19}, {.channels = 16, .kernel = {4}, .padding = {3}, .bias = false}),
      toom_cook({2, 16, 21}, {.channels = 48, .kernel = {5}, .padding = {2}, .relu = true}),
      toom_cook({1, 16, 22}, {.channels = 16, .kernel = {3}, .padding = {1}}),
      toom_cook({1, 16, 70}, {.channels = 16, .kernel = {32}, .padding = {16}}),
      toom_cook({1, 48, 300}, {.channels = 32, .kernel = {6}, .padding = {5}, .relu = true}),
      toom_cook({1, 16, 1}, {.channels = 16, .kernel = {5}, .padding = {4}}),
  };
}

// Which places of a map hold something; what they hold is in all channels or in one.
struct Pattern {
  std::string name;
  bool one_channel = false;
  std::function<bool(const base::CounterRng& rng, std::int64_t y, std::int64_t x)> filled;
};

std::vector<Pattern> patterns() {
  const auto share = [](std::uint64_t of_100) {
    return [of_100](const base::CounterRng& rng, std::int64_t y, std::int64_t x) {
      return rng.below(static_cast<std::uint64_t>(1000 * y + x), 100) < of_100;
    };
  };
  const auto rectangle = [](std::int64_t size) {
    return [size](const base::CounterRng& rng, std::int64_t y, std::int64_t x) {
      const auto top = static_cast<std::int64_t>(rng.below(0, 8)), left = static_cast<std::int64_t>(rng.below(1, 16));
      return y < top || y >= top + size || x < left || x >= left + size;
    };
  };
  return {{"all zero", false, [](const base::CounterRng&, std::int64_t, std::int64_t) { return false; }},
          {"nothing zero", true, [](const base::CounterRng&, std::int64_t, std::int64_t) { return true; }},
          {"few points", true, share(2)},
          {"some points", false, share(10)},
          {"half", true, share(50)},
          {"a small rectangle is zero", false, rectangle(4)},
          {"a large rectangle is zero", true, rectangle(11)}};
}

// A sample's map with its holes, as a float has them: 0 in some channels, -0 in others.
void punch(const ZeroCase& c, const Pattern& pattern, std::vector<double>& src) {
  const Shape& shape = c.op.shapes[0];
  const std::int64_t height = c.height(shape), width = c.width(shape);
  std::size_t i = 0;
  for (std::int64_t n = 0; n < shape[0]; ++n) {
    const base::CounterRng rng(11, base::Purpose::probe, 3, static_cast<std::uint64_t>(n));
    const auto only = static_cast<std::int64_t>(rng.below(99, static_cast<std::uint64_t>(shape[1])));
    for (std::int64_t channel = 0; channel < shape[1]; ++channel)
      for (std::int64_t y = 0; y < height; ++y)
        for (std::int64_t x = 0; x < width; ++x, ++i)
          if (!pattern.filled(rng, y, x) || (pattern.one_channel && channel != only))
            src[i] = channel % 3 == 0 ? -0.0 : 0.0;
          else if (src[i] == 0)
            src[i] = 0.5;
  }
}

bool field_is_zero(const ZeroCase& c, const std::vector<double>& src, std::int64_t n, std::int64_t row,
                   std::int64_t column) {
  const Shape& shape = c.op.shapes[0];
  const std::int64_t height = c.height(shape), width = c.width(shape);
  const std::int64_t top = c.flat() ? 0 : row - c.options.padding[0], left = column - c.options.padding.back();
  for (std::int64_t y = std::max<std::int64_t>(top, 0); y < std::min(top + (c.flat() ? 1 : 3), height); ++y)
    for (std::int64_t x = std::max<std::int64_t>(left, 0); x < std::min(left + c.options.kernel.back(), width); ++x)
      for (std::int64_t channel = 0; channel < shape[1]; ++channel)
        if (src[static_cast<std::size_t>(((n * shape[1] + channel) * height + y) * width + x)] != 0) return false;
  return true;
}

// Fails where an output with a field of zeros is not exactly the bias; the number of such outputs.
int expect_bias(const ZeroCase& c, const Reference& given, const std::vector<float>& dst) {
  const Shape out = c.op.op->output(c.op.shapes);
  const std::int64_t height = c.height(out), width = c.width(out);
  int zeros = 0, wrong = 0;
  const auto check = [&](std::int64_t n, std::int64_t channel, std::int64_t y, std::int64_t x) {
    const float got = dst[static_cast<std::size_t>(((n * out[1] + channel) * height + y) * width + x)];
    const float bias = c.options.bias ? static_cast<float>(given.weights[1][static_cast<std::size_t>(channel)]) : 0;
    const float expected = c.options.relu ? std::max(bias, 0.0f) : bias;
    ++zeros;
    if (std::bit_cast<std::uint32_t>(got) == std::bit_cast<std::uint32_t>(expected)) return;
    if (++wrong == 1)
      ADD_FAILURE() << "sample " << n << ", channel " << channel << ", output " << y << ", " << x << ": " << got
                    << " instead of " << expected;
  };
  for (std::int64_t n = 0; n < out[0]; ++n)
    for (std::int64_t y = 0; y < height; ++y)
      for (std::int64_t x = 0; x < width; ++x)
        if (field_is_zero(c, given.src[0], n, y, x))
          for (std::int64_t channel = 0; channel < out[1]; ++channel) check(n, channel, y, x);
  EXPECT_EQ(wrong, 0) << "of " << zeros;
  return zeros;
}

void for_each_isa(const std::function<void()>& f) {
  const base::Isa before = base::active_isa();
  for (const base::Isa isa : {base::Isa::generic, base::Isa::avx2, base::Isa::avx512}) {
    if (isa > base::best_isa()) continue;
    base::set_active_isa(isa);
    SCOPED_TRACE(base::isa_name(isa));
    f();
  }
  base::set_active_isa(before);
}

TEST(ZeroField, OutputIsExactlyTheBias) {
  for (const Pattern& pattern : patterns()) {
    int zeros = 0;
    for (const ZeroCase& c : zero_cases()) {
      SCOPED_TRACE(c.op.name + ", " + pattern.name);
      CaseData data = make_data(c.op, false);
      punch(c, pattern, data.exact.src[0]);
      if (c.options.bias)
        for (std::size_t channel = 0; channel < data.exact.weights[1].size(); channel += 2)
          data.exact.weights[1][channel] = 0;
      c.op.op->reference_forward(data.exact);
      const Bounds bounds = c.op.bound(*c.op.op, data.exact, data.diff_dst);
      std::vector<KernelResult> results;
      for_each_isa([&] {
        results.push_back(run_kernel(c.op, data, {.offered = offers(c.op)[0].layouts, .training = false}));
        zeros += expect_bias(c, data.exact, results.back().dst);
        expect_within("dst", data.exact.dst, results.back().dst, bounds.dst);
        expect_same_bits("as the first", results.front(), results.back());
      });
    }
    EXPECT_GT(zeros, 0) << pattern.name;
  }
}

// 0 times infinity is no number: overwriting must not hide weights that have become infinite.
TEST(ZeroField, OutputOfInfiniteWeightsIsNoNumber) {
  for (const ZeroCase& c : {winograd({1, 16, 8, 8}, {.channels = 16, .padding = {1, 1}}),
                            toom_cook({1, 16, 64}, {.channels = 16, .kernel = {5}, .padding = {2}})}) {
    SCOPED_TRACE(c.op.name);
    CaseData data = make_data(c.op, false);
    std::vector<double>& src = data.exact.src[0];
    std::fill(src.begin(), src.end(), 0.0);
    src.back() = 1;
    std::fill(data.exact.weights[0].begin(), data.exact.weights[0].end(), std::numeric_limits<double>::infinity());
    for_each_isa([&] {
      for (const float value : run_kernel(c.op, data, {.offered = offers(c.op)[0].layouts, .training = false}).dst)
        ASSERT_TRUE(std::isnan(value) || std::isinf(value)) << value;
    });
  }
}

}  // namespace
}  // namespace trireme::optest
