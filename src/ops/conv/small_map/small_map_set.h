// Set: the passes of small_map_passes.h, written once for an instruction set S: a vector type with kWidth lanes, and
// how many sums its registers hold. Included by one .cpp per instruction set, after its target pragma.
#pragma once

#include <algorithm>
#include <utility>

#include "ops/conv/small_map/small_map_passes.h"

namespace trireme::ops::small_map {
namespace {

template <class S>
struct Set {
  using Vector = typename S::Vector;
  static constexpr std::int64_t kBlock = S::kBlock;
  static constexpr int kParts = base::kLanes / S::kWidth;  // vectors of sixteen lanes

  // The most even split of `count` into parts of at most `most`: the size of the next part.
  static std::int64_t share(std::int64_t count, std::int64_t most) {
    const std::int64_t parts = (count + most - 1) / most;
    return (count + parts - 1) / parts;
  }
  // The offset of channel c of a sample at position 0.
  static std::int64_t channel(std::int64_t c, std::int64_t positions) {
    return c / kBlock * positions * kBlock + c % kBlock;
  }

  template <int kMost, class F>
  static void with_count(std::int64_t count, const F& f) {
    if constexpr (kMost > 1) {
      if (count < kMost) return with_count<kMost - 1>(count, f);
    }
    f(std::integral_constant<int, kMost>{});
  }

  // kRows samples from `sample` on, S::kVectors vectors of output channels from `o` on.
  template <int kRows>
  static void forward_part(const Sizes& s, TapLinks links, const float* src, const float* weights, const float* bias,
                           bool relu, float* dst, std::int64_t sample, std::int64_t o, std::int64_t position) {
    const std::int64_t row = s.in_channels * s.in_positions, plane = s.in_positions * kBlock;
    const float* panel = weights + o / kPanel * s.taps * s.in_channels * kPanel + o % kPanel;
    Vector sums[kRows][S::kVectors];
#pragma GCC unroll 8
    for (int v = 0; v < S::kVectors; ++v) {
      const Vector first = bias == nullptr ? S::splat(0.0f) : S::load(bias + o + v * S::kWidth);
#pragma GCC unroll 8
      for (int i = 0; i < kRows; ++i) sums[i][v] = first;
    }
    for (const TapLink& link : links) {
      const float* a = src + sample * row + link.in * kBlock;
      const float* b = panel + link.tap * s.in_channels * kPanel;
      for (std::int64_t c = 0; c < s.in_channels; c += kBlock, a += plane)
        for (std::int64_t k = 0; k < kBlock; ++k, b += kPanel) {
          Vector values[S::kVectors];
#pragma GCC unroll 8
          for (int v = 0; v < S::kVectors; ++v) values[v] = S::held(S::load(b + v * S::kWidth));
#pragma GCC unroll 8
          for (int i = 0; i < kRows; ++i) {
            const Vector factor = S::splat(a[i * row + k]);
#pragma GCC unroll 8
            for (int v = 0; v < S::kVectors; ++v) sums[i][v] = S::fma(factor, values[v], sums[i][v]);
          }
        }
    }
#pragma GCC unroll 8
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 8
      for (int v = 0; v < S::kVectors; ++v)
        S::store(dst + (sample + i) * s.out_channels * s.out_positions + channel(o + v * S::kWidth, s.out_positions) +
                     position * kBlock,
                 relu ? S::positive_part(sums[i][v]) : sums[i][v]);
  }

  static void forward(const Sizes& s, const TapLinks* links, const float* src, const float* weights, const float* bias,
                      bool relu, float* dst) {
    for (std::int64_t o = 0; o < s.out_channels; o += S::kVectors * S::kWidth)
      for (std::int64_t p = 0; p < s.out_positions; ++p)
        for (std::int64_t sample = 0; sample < s.samples;) {
          const std::int64_t rows = share(s.samples - sample, S::kRows);
          with_count<S::kRows>(rows, [&](auto count) {
            forward_part<count()>(s, links[p], src, weights, bias, relu, dst, sample, o, p);
          });
          sample += rows;
        }
  }

  // kRows samples from `sample` on, S::kDots input channels from `i` on; each is a dot product over output channels.
  template <int kRows>
  static void data_part(const Sizes& s, TapLinks links, const float* diff_dst, const float* weights, float* diff_src,
                        std::int64_t sample, std::int64_t i, std::int64_t position) {
    const std::int64_t row = s.out_channels * s.out_positions, step = channel(base::kLanes, s.out_positions);
    Vector sums[kRows][S::kDots][kParts];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int d = 0; d < S::kDots; ++d)
#pragma GCC unroll 4
        for (int part = 0; part < kParts; ++part) sums[r][d][part] = S::splat(0.0f);
    for (const TapLink& link : links) {
      const float* a = diff_dst + sample * row + link.out * kBlock;
      for (std::int64_t panel = 0; panel < s.out_channels; panel += kPanel) {
        const float* b = weights + ((panel / kPanel * s.taps + link.tap) * s.in_channels + i) * kPanel;
        for (std::int64_t o = 0; o < kPanel; o += base::kLanes, a += step)
#pragma GCC unroll 4
          for (int part = 0; part < kParts; ++part) {
            const std::int64_t lanes = channel(part * S::kWidth, s.out_positions);
            Vector values[kRows];
#pragma GCC unroll 8
            for (int r = 0; r < kRows; ++r) values[r] = S::held(S::load(a + r * row + lanes));
#pragma GCC unroll 8
            for (int d = 0; d < S::kDots; ++d) {
              const Vector factor = S::held(S::load(b + d * kPanel + o + part * S::kWidth));
#pragma GCC unroll 8
              for (int r = 0; r < kRows; ++r) sums[r][d][part] = S::fma(values[r], factor, sums[r][d][part]);
            }
          }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
      S::store_sums(
          diff_src + (sample + r) * s.in_channels * s.in_positions + channel(i, s.in_positions) + position * kBlock,
          sums[r]);
  }

  // Input channels are processed in chunks whose weights stay in cache while all samples are multiplied with them.
  static void backward_data(const Sizes& s, const TapLinks* links, const float* diff_dst, const float* weights,
                            float* diff_src) {
    constexpr std::int64_t kChunk = 64;
    for (std::int64_t chunk = 0; chunk < s.in_channels; chunk += kChunk)
      for (std::int64_t q = 0; q < s.in_positions; ++q)
        for (std::int64_t sample = 0; sample < s.samples;) {
          const std::int64_t rows = share(s.samples - sample, S::kDotRows);
          with_count<S::kDotRows>(rows, [&](auto count) {
            for (std::int64_t i = chunk; i < std::min(chunk + kChunk, s.in_channels); i += S::kDots)
              data_part<count()>(s, links[q], diff_dst, weights, diff_src, sample, i, q);
          });
          sample += rows;
        }
  }

  // kRows input channels from `i` on, S::kVectors vectors of output channels from `o` on.
  template <int kRows>
  static void weights_part(const Sizes& s, TapLinks links, const float* src, const float* diff_dst, float* diff_weights,
                           std::int64_t i, std::int64_t o) {
    const std::int64_t in_row = s.in_channels * s.in_positions, out_row = s.out_channels * s.out_positions;
    const std::int64_t next = channel(S::kWidth, s.out_positions);  // kWidth divides kBlock
    Vector sums[kRows][S::kVectors];
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < S::kVectors; ++v) sums[r][v] = S::splat(0.0f);
    for (const TapLink& link : links) {
      const float* a = src + channel(i, s.in_positions) + link.in * kBlock;
      const float* b = diff_dst + channel(o, s.out_positions) + link.out * kBlock;
      for (std::int64_t sample = 0; sample < s.samples; ++sample, a += in_row, b += out_row) {
        Vector values[S::kVectors];
#pragma GCC unroll 8
        for (int v = 0; v < S::kVectors; ++v) values[v] = S::held(S::load(b + v * next));
#pragma GCC unroll 8
        for (int r = 0; r < kRows; ++r) {
          const Vector factor = S::splat(a[r]);
#pragma GCC unroll 8
          for (int v = 0; v < S::kVectors; ++v) sums[r][v] = S::fma(factor, values[v], sums[r][v]);
        }
      }
    }
#pragma GCC unroll 8
    for (int r = 0; r < kRows; ++r)
#pragma GCC unroll 8
      for (int v = 0; v < S::kVectors; ++v) S::store(diff_weights + r * kPanel + v * S::kWidth, sums[r][v]);
  }

  static void backward_weights(const Sizes& s, const TapLinks* links, const float* src, const float* diff_dst,
                               float* diff_weights) {
    for (std::int64_t panel = 0; panel < s.out_channels; panel += kPanel)
      for (std::int64_t tap = 0; tap < s.taps; ++tap, diff_weights += s.in_channels * kPanel)
        for (std::int64_t i = 0; i < s.in_channels;) {
          // The rows of a part are adjacent in memory, so they lie within one block.
          const std::int64_t rows = share(kBlock - i % kBlock, S::kRows);
          with_count<S::kRows>(rows, [&](auto count) {
            for (std::int64_t o = 0; o < kPanel; o += S::kVectors * S::kWidth)
              weights_part<count()>(s, links[tap], src, diff_dst, diff_weights + i * kPanel + o, i, panel + o);
          });
          i += rows;
        }
  }

  static constexpr Passes passes() { return {kBlock, &forward, &backward_data, &backward_weights}; }
};

}  // namespace
}  // namespace trireme::ops::small_map
