// FilterPasses: the passes between filters and their points. Included like toom_cook_lines.h.
#pragma once

#include "ops/conv/toom_cook/toom_cook_lines.h"
#include "ops/conv/toom_cook/toom_cook_passes.h"

namespace trireme::ops::toom_cook {

template <class S>
struct FilterPasses {
  using V = typename S::Vector;
  using L = Lines<S>;
  static constexpr std::int64_t kBlock = S::kWidth;
  static constexpr std::int64_t kTap = kBlock * kBlock;

  static std::int64_t segments(const Filters& f) { return (f.taps + kStep - 1) / kStep; }

  // The offset of a sum channel's lanes in a point of FilterPlanes.
  static std::int64_t row(std::int64_t segments, std::int64_t sum_channels, std::int64_t lane_block,
                          std::int64_t segment, std::int64_t channel) {
    const std::int64_t pair = segment - segment % 2, width = pair + 1 < segments ? 2 : 1;
    return ((lane_block * segments + pair) * sum_channels + channel * width + segment % 2) * kBlock;
  }

  static void transform_filters(const Filters& f, const float* weights, bool adjoint, FilterPlanes u) {
    alignas(64) float turned[kStep * kTap];
    const std::int64_t all = segments(f), sum_channels = (adjoint ? f.out_blocks : f.in_blocks) * kBlock;
    for (std::int64_t o = 0; o < f.out_blocks; ++o)
      for (std::int64_t i = 0; i < f.in_blocks; ++i, weights += f.taps * kTap)
        for (std::int64_t s = 0; s < all; ++s) {
          const float* taps = weights + s * kStep * kTap;
          const auto count = static_cast<int>(f.taps - s * kStep);  // taps from 4 on belong to later segments
          if (adjoint) {
            for (int k = 0; k < kStep && k < count; ++k) S::transpose(taps + k * kTap, kBlock, turned + k * kTap);
            taps = turned;
          }
          const std::int64_t lanes = adjoint ? i : o, sums = adjoint ? o : i, segment = adjoint ? all - 1 - s : s;
          for (std::int64_t c = 0; c < kBlock; ++c) {
            V g[kStep], points[kPoints];
            repeat<kStep>([&](auto k) __attribute__((always_inline)) {
              g[k] = k < count ? S::load(taps + k * kTap + c * kBlock) : V{};
            });
            L::diff_dst(g, points);
            float* to = u.data + row(all, sum_channels, lanes, segment, sums * kBlock + c);
            repeat<kPoints>([&](auto e) __attribute__((always_inline)) {
              S::store(to + e * u.plane, S::splat(L::kScales[e]) * points[e]);
            });
          }
        }
  }

  static void make_diff_weights(const Filters& f, FilterPlanes du, float* diff_weights) {
    const std::int64_t all = segments(f), in_channels = f.in_blocks * kBlock;
    for (std::int64_t o = 0; o < f.out_blocks; ++o)
      for (std::int64_t i = 0; i < f.in_blocks; ++i, diff_weights += f.taps * kTap)
        for (std::int64_t s = 0; s < all; ++s)
          for (std::int64_t c = 0; c < kBlock; ++c) {
            const float* from = du.data + row(all, in_channels, o, s, i * kBlock + c);
            V points[kPoints], g[kStep];
            repeat<kPoints>([&](auto e) __attribute__((always_inline)) {
              points[e] = S::splat(L::kScales[e]) * S::load(from + e * du.plane);
            });
            L::dst(points, g);
            repeat<kStep>([&](auto k) __attribute__((always_inline)) {
              const std::int64_t tap = s * kStep + k;
              if (tap < f.taps) S::store(diff_weights + tap * kTap + c * kBlock, g[k]);
            });
          }
  }
};

}  // namespace trireme::ops::toom_cook
