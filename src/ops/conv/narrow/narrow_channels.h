// ChannelSet: the passes of narrow_passes.h whose lanes are output channels, written once for an instruction set S (see
// narrow_columns.h; its registers hold the sums of kRows x kColumns positions and of kTapSums weights). Included by one
// .cpp per instruction set, after its target pragma.
#pragma once

#include <algorithm>
#include <array>
#include <utility>

#include "ops/conv/narrow/narrow_passes.h"
#include "ops/vector/repeat.h"

namespace trireme::ops::narrow {
namespace {

template <class S>
struct ChannelSet {
  using Vector = typename S::Vector;
  static constexpr std::int64_t kLanes = base::kLanes;
  static constexpr int kRows = 2;  // rows of the output that are computed together
  static constexpr int kTapRows = 5, kTapColumns = 7;

  // kHeight x kWidth positions of S::kWidth channels.
  template <int kHeight, int kWidth>
  static void correlate_part(const Sizes& sizes, Images<const float> in, const float* weights, const float* bias,
                             bool relu, float* out) {
    Vector sums[kHeight][kWidth];
    const Vector start = bias == nullptr ? S::splat(0.0f) : S::load(bias);
    const auto each = [&](const auto& f) __attribute__((always_inline)) {
      repeat<kHeight>([&](auto y) __attribute__((always_inline)) {
        repeat<kWidth>([&](auto x) __attribute__((always_inline)) { f(y, x); });
      });
    };
    each([&](auto y, auto x) __attribute__((always_inline)) { sums[y][x] = start; });
    const std::int64_t tap = sizes.out_vectors() * kLanes, row = in.row;
    for (std::int64_t i = 0; i < sizes.in_channels; ++i)
      for (std::int64_t ky = 0; ky < sizes.kernel_height; ++ky) {
        const float* from = in.data + i * in.plane + ky * row;
        for (std::int64_t kx = sizes.kernel_width; kx > 0; --kx, ++from, weights += tap) {
          const Vector weight = S::load(weights);
          each([&](auto y, auto x) __attribute__((always_inline)) {
            sums[y][x] = S::fma(S::splat(from[y * row + x]), weight, sums[y][x]);
          });
        }
      }
    each([&](auto y, auto x) __attribute__((always_inline)) {
      S::store(out + (y * sizes.width + x) * kLanes, relu ? S::positive_part(sums[y][x]) : sums[y][x]);
    });
  }

  using CorrelatePart = void (*)(const Sizes&, Images<const float>, const float*, const float*, bool, float*);
  template <int... kCase>
  static constexpr auto correlate_parts(std::integer_sequence<int, kCase...>) {
    return std::array<CorrelatePart, sizeof...(kCase)>{
        &correlate_part<kCase / S::kColumns + 1, kCase % S::kColumns + 1>...};
  }

  static void correlate(const Sizes& sizes, Images<const float> in, const float* weights, const float* bias, bool relu,
                        float* out) {
    static constexpr auto kParts = correlate_parts(std::make_integer_sequence<int, kRows * S::kColumns>{});
    const std::int64_t positions = sizes.height * sizes.width;
    for (std::int64_t o = 0; o < sizes.out_vectors() * kLanes; o += S::kWidth)
      for (std::int64_t y = 0; y < sizes.height;) {
        const std::int64_t rows = std::min<std::int64_t>(kRows, sizes.height - y);
        for (std::int64_t x = 0; x < sizes.width;) {
          const std::int64_t columns = share(sizes.width - x, S::kColumns);
          kParts[static_cast<std::size_t>((rows - 1) * S::kColumns + columns - 1)](
              sizes, {in.data + y * in.row + x, in.plane, in.row}, weights + o, bias == nullptr ? nullptr : bias + o,
              relu, out + (o / kLanes * positions + y * sizes.width + x) * kLanes + o % kLanes);
          x += columns;
        }
        y += rows;
      }
  }

  // kHeight x kWidth neighbouring weights of S::kWidth channels.
  template <int kHeight, int kWidth>
  static void gradient_part(const Sizes& sizes, const float* in, std::int64_t row, const float* diff, float* sums) {
    const std::int64_t tap = sizes.out_vectors() * kLanes, tap_row = sizes.kernel_width * tap;
    Vector held[kHeight][kWidth];
    const auto each = [&](const auto& f) __attribute__((always_inline)) {
      repeat<kHeight>([&](auto ky) __attribute__((always_inline)) {
        repeat<kWidth>([&](auto kx) __attribute__((always_inline)) { f(ky, kx); });
      });
    };
    each([&](auto ky, auto kx)
             __attribute__((always_inline)) { held[ky][kx] = S::load(sums + ky * tap_row + kx * tap); });
    for (std::int64_t y = 0; y < sizes.height; ++y) {
      const float* from = in + y * row;
      for (std::int64_t x = sizes.width; x > 0; --x, ++from, diff += kLanes) {
        const Vector gradient = S::load(diff);
        each([&](auto ky, auto kx) __attribute__((always_inline)) {
          held[ky][kx] = S::fma(S::splat(from[ky * row + kx]), gradient, held[ky][kx]);
        });
      }
    }
    each([&](auto ky, auto kx)
             __attribute__((always_inline)) { S::store(sums + ky * tap_row + kx * tap, held[ky][kx]); });
  }

  using GradientPart = void (*)(const Sizes&, const float*, std::int64_t, const float*, float*);
  template <int kHeight, int kWidth>
  static constexpr GradientPart gradient_case() {
    if constexpr (kHeight * kWidth <= S::kTapSums)
      return &gradient_part<kHeight, kWidth>;
    else
      return nullptr;
  }
  template <int... kCase>
  static constexpr auto gradient_parts(std::integer_sequence<int, kCase...>) {
    return std::array<GradientPart, sizeof...(kCase)>{
        gradient_case<kCase / kTapColumns + 1, kCase % kTapColumns + 1>()...};
  }

  static void gradient(const Sizes& sizes, Images<const float> in, const float* diff, float* sums) {
    static constexpr auto kParts = gradient_parts(std::make_integer_sequence<int, kTapRows * kTapColumns>{});
    const std::int64_t tap = sizes.out_vectors() * kLanes, positions = sizes.height * sizes.width;
    const std::int64_t most_columns = std::min(kTapColumns, S::kTapSums);
    for (std::int64_t kx = 0; kx < sizes.kernel_width;) {
      const std::int64_t columns = share(sizes.kernel_width - kx, most_columns);
      const std::int64_t most_rows = std::min<std::int64_t>(kTapRows, S::kTapSums / columns);
      for (std::int64_t ky = 0; ky < sizes.kernel_height;) {
        const std::int64_t rows = share(sizes.kernel_height - ky, most_rows);
        const GradientPart part = kParts[static_cast<std::size_t>((rows - 1) * kTapColumns + columns - 1)];
        for (std::int64_t i = 0; i < sizes.in_channels; ++i)
          for (std::int64_t o = 0; o < tap; o += S::kWidth)
            part(sizes, in.data + i * in.plane + ky * in.row + kx, in.row,
                 diff + o / kLanes * positions * kLanes + o % kLanes,
                 sums + ((i * sizes.kernel_height + ky) * sizes.kernel_width + kx) * tap + o);
        ky += rows;
      }
      kx += columns;
    }
  }

  static void bias_gradient(const Sizes& sizes, const float* diff, float* sums) {
    for (std::int64_t o = 0; o < sizes.out_vectors() * kLanes; o += S::kWidth) {
      Vector sum = S::load(sums + o);
      const float* from = diff + o / kLanes * sizes.height * sizes.width * kLanes + o % kLanes;
      for (std::int64_t p = sizes.height * sizes.width; p > 0; --p, from += kLanes) sum = sum + S::load(from);
      S::store(sums + o, sum);
    }
  }

  static constexpr ChannelLanes passes() { return {&correlate, &gradient, &bias_gradient}; }
};

}  // namespace
}  // namespace trireme::ops::narrow
