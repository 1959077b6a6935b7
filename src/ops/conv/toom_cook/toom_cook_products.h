// Products: the matrix products of one point: sums over segments and channels (for M and dV) and over tiles (for dU).
// Included like toom_cook_lines.h.
//
// Each result is one chain of fma in the order of the sum. A broadcast value of an input tile serves both segments of a
// pair: the first for the output tile at its place, the second for the output tile before it.
#pragma once

#include "ops/conv/toom_cook/toom_cook_lines.h"
#include "ops/conv/toom_cook/toom_cook_passes.h"

namespace trireme::ops::toom_cook {

template <class S>
struct Products {
  using V = typename S::Vector;
  static constexpr std::int64_t kBlock = S::kWidth;
  static constexpr int kTileRows = S::kTileRows;  // the most tiles in a strip
  // Channels in a strip of W segments; divides the block.
  template <int W>
  static constexpr int kChannelRows = 2 * S::kChannelRows / W;

  using Strip = void (*)(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                         bool first);

  // R tiles, W segments.
  template <int R, int W>
  static void strip(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                    bool first) {
    V sum[R];
    repeat<R>([&](auto r) __attribute__((always_inline)) { sum[r] = first ? V{} : S::load(m + r * kBlock); });
    for (; sum_blocks > 0; --sum_blocks, a += a_block)
      for (std::int64_t c = 0; c < kBlock; ++c, u += W * kBlock) {
        const V near = S::load(u);
        V far = near;
        if constexpr (W == 2) far = S::load(u + kBlock);
        repeat<R + W - 1>([&](auto r) __attribute__((always_inline)) {
          const V tile = S::splat(a[r * kBlock + c]);
          if constexpr (W == 2 && r > 0) sum[r - 1] = S::fma(tile, far, sum[r - 1]);
          if constexpr (r < R) sum[r] = S::fma(tile, near, sum[r]);
        });
      }
    repeat<R>([&](auto r) __attribute__((always_inline)) { S::store(m + r * kBlock, sum[r]); });
  }

  template <int W, int... r>
  static Strip strip_of(int rows, std::integer_sequence<int, r...>) {
    static constexpr Strip all[] = {strip<r + 1, W>...};
    return all[rows - 1];
  }

  static void multiply(const float* a, std::int64_t a_block, std::int64_t sum_blocks, std::int64_t segments,
                       const float* u, float* m, std::int64_t m_block, std::int64_t lane_blocks, std::int64_t tiles) {
    constexpr std::make_integer_sequence<int, kTileRows> all_rows;
    const std::int64_t strips = (tiles + kTileRows - 1) / kTileRows;
    for (std::int64_t lane = 0; lane < lane_blocks; ++lane, m += m_block)
      for (std::int64_t segment = 0; segment < segments; segment += 2) {
        const int width = segment + 1 < segments ? 2 : 1;
        std::int64_t tile = 0;
        for (std::int64_t s = 0; s < strips; ++s) {
          const int rows = static_cast<int>((tiles - tile) / (strips - s));
          const Strip run = width == 2 ? strip_of<2>(rows, all_rows) : strip_of<1>(rows, all_rows);
          run(a + (tile + segment) * kBlock, a_block, u, sum_blocks, m + tile * kBlock, segment == 0);
          tile += rows;
        }
        u += width * sum_blocks * kBlock * kBlock;
      }
  }

  // W segments; rows of du are W blocks apart.
  template <int W>
  static void tile_strip(const float* v, const float* d, float* du, std::int64_t tiles, bool first) {
    constexpr int R = kChannelRows<W>;
    V sum[R][W];
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w)
                    __attribute__((always_inline)) { sum[r][w] = first ? V{} : S::load(du + (r * W + w) * kBlock); });
    });
    const auto add = [&](int w, V lanes) __attribute__((always_inline)) {
      repeat<R>([&](auto r) __attribute__((always_inline)) { sum[r][w] = S::fma(S::splat(v[r]), lanes, sum[r][w]); });
    };
    V before = S::load(d);
    add(0, before);
    for (std::int64_t tile = 1; tile < tiles; ++tile) {
      v += kBlock;
      const V lanes = S::load(d += kBlock);
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        const V channel = S::splat(v[r]);
        sum[r][0] = S::fma(channel, lanes, sum[r][0]);
        if constexpr (W == 2) sum[r][1] = S::fma(channel, before, sum[r][1]);
      });
      before = lanes;
    }
    v += kBlock;
    if constexpr (W == 2) add(1, before);
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w) __attribute__((always_inline)) { S::store(du + (r * W + w) * kBlock, sum[r][w]); });
    });
  }

  struct Strips {
    int channels;
    void (*run)(const float* v, const float* d, float* du, std::int64_t tiles, bool first);
  };

  static void multiply_tiles(const float* v, std::int64_t v_block, std::int64_t v_blocks, std::int64_t segments,
                             const float* d, std::int64_t d_block, std::int64_t d_blocks, float* du, std::int64_t tiles,
                             bool first) {
    for (std::int64_t lane = 0; lane < d_blocks; ++lane, d += d_block)
      for (std::int64_t segment = 0; segment < segments; segment += 2) {
        const int width = segment + 1 < segments ? 2 : 1;
        const Strips strips =
            width == 2 ? Strips{kChannelRows<2>, tile_strip<2>} : Strips{kChannelRows<1>, tile_strip<1>};
        for (std::int64_t channel = 0; channel < v_blocks * kBlock; channel += strips.channels) {
          const float* from = v + channel / kBlock * v_block + segment * kBlock + channel % kBlock;
          strips.run(from, d, du, tiles, first);
          du += width * strips.channels * kBlock;
        }
      }
  }
};

}  // namespace trireme::ops::toom_cook
