// Products: the matrix products of one point: sums over channels (for M and dV) and over tiles (for dU). Included like
// winograd_lines.h.
//
// Each result is one chain of fma in the order of the sum. Strips of rows x 1 or 2 vectors stay in registers; one
// operand is broadcast, the other is a vector of lanes.
#pragma once

#include "ops/conv/winograd/winograd_lines.h"
#include "ops/conv/winograd/winograd_passes.h"

namespace trireme::ops::winograd {

template <class S>
struct Products {
  using V = typename S::Vector;
  static constexpr std::int64_t kBlock = S::kWidth;
  static constexpr int kTileRows = S::kTileRows;        // the most tiles in a strip of two vectors
  static constexpr int kChannelRows = S::kChannelRows;  // channels in a strip; divides the block

  using Strip = void (*)(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                         std::int64_t m_block, bool first);

  // R tiles times W blocks of lanes.
  template <int R, int W>
  static void strip(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                    std::int64_t m_block, bool first) {
    V sum[R][W];
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w) __attribute__((always_inline)) {
        sum[r][w] = first ? V{} : S::load(m + w * m_block + r * kBlock);
      });
    });
    for (; sum_blocks > 0; --sum_blocks, a += a_block)
      for (std::int64_t c = 0; c < kBlock; c += 4)
        repeat<4>([&](auto k) __attribute__((always_inline)) {
          V lanes[W];
          repeat<W>([&](auto w) __attribute__((always_inline)) { lanes[w] = S::load(u + w * kBlock); });
          u += W * kBlock;
          repeat<R>([&](auto r) __attribute__((always_inline)) {
            const V tile = S::splat(a[r * kBlock + c + k]);
            repeat<W>([&](auto w) __attribute__((always_inline)) { sum[r][w] = S::fma(tile, lanes[w], sum[r][w]); });
          });
        });
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w) __attribute__((always_inline)) { S::store(m + w * m_block + r * kBlock, sum[r][w]); });
    });
  }

  template <int W, int... r>
  static Strip strip_of(int rows, std::integer_sequence<int, r...>) {
    static constexpr Strip all[] = {strip<r + 1, W>...};
    return all[rows - 1];
  }

  static void multiply(const float* a, std::int64_t a_block, const float* u, std::int64_t sum_blocks, float* m,
                       std::int64_t m_block, std::int64_t lane_blocks, std::int64_t tiles, bool first) {
    constexpr std::make_integer_sequence<int, kTileRows> all_rows;
    const std::int64_t strips = (tiles + kTileRows - 1) / kTileRows;
    for (std::int64_t lane = 0; lane < lane_blocks; lane += 2) {
      std::int64_t tile = 0;
      for (std::int64_t s = 0; s < strips; ++s) {
        const int rows = static_cast<int>((tiles - tile) / (strips - s));
        const Strip run = lane + 1 < lane_blocks ? strip_of<2>(rows, all_rows) : strip_of<1>(rows, all_rows);
        run(a + tile * kBlock, a_block, u, sum_blocks, m + tile * kBlock, m_block, first);
        tile += rows;
      }
      u += 2 * kBlock * sum_blocks * kBlock;
      m += 2 * m_block;
    }
  }

  // kChannelRows channels of v times W blocks of d; rows of du are W blocks apart.
  template <int W>
  static void tile_strip(const float* v, const float* d, std::int64_t d_block, float* du, std::int64_t tiles,
                         bool first) {
    constexpr int R = kChannelRows;
    V sum[R][W];
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w)
                    __attribute__((always_inline)) { sum[r][w] = first ? V{} : S::load(du + (r * W + w) * kBlock); });
    });
    for (; tiles > 0; --tiles, v += kBlock, d += kBlock) {
      V lanes[W];
      repeat<W>([&](auto w) __attribute__((always_inline)) { lanes[w] = S::load(d + w * d_block); });
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        const V channel = S::splat(v[r]);
        repeat<W>([&](auto w) __attribute__((always_inline)) { sum[r][w] = S::fma(channel, lanes[w], sum[r][w]); });
      });
    }
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<W>([&](auto w) __attribute__((always_inline)) { S::store(du + (r * W + w) * kBlock, sum[r][w]); });
    });
  }

  static void multiply_tiles(const float* v, std::int64_t v_block, std::int64_t v_blocks, const float* d,
                             std::int64_t d_block, std::int64_t d_blocks, float* du, std::int64_t tiles, bool first) {
    for (std::int64_t lane = 0; lane < d_blocks; lane += 2) {
      const bool pair = lane + 1 < d_blocks;
      for (std::int64_t channel = 0; channel < v_blocks * kBlock; channel += kChannelRows) {
        const float* from = v + channel / kBlock * v_block + channel % kBlock;
        if (pair)
          tile_strip<2>(from, d, d_block, du + channel * 2 * kBlock, tiles, first);
        else
          tile_strip<1>(from, d, d_block, du + channel * kBlock, tiles, first);
      }
      d += 2 * d_block;
      du += 2 * kBlock * v_blocks * kBlock;
    }
  }
};

}  // namespace trireme::ops::winograd
