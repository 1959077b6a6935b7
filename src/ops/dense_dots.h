// Forward of dense layers: dot products of rows of src with rows of weights. Included by the file of one instruction
// set after its target pragma; S is that file's vectors (see dense_passes.h for the layout of things).
//
// The order of additions is a function of K alone: rows are cut into blocks of kBlock elements; within a block, lane i
// of sixteen sums the products of elements i, i + 16, ... with fma, missing elements being zeros; the lanes are added
// by halves, quarters, eighths and pairs; the blocks' sums are added in order, then the bias.
//
// A block of all rows of src is copied tile by tile into the order of use and stays in the L2 cache, while each tile of
// weights comes from memory once, asked for one tile ahead.
#pragma once

#include <algorithm>

#include "ops/dense_passes.h"
#include "ops/repeat.h"

namespace trireme::ops::dense_passes {

template <class S>
struct DotTiles {
  using V = typename S::Vector;
  static constexpr std::int64_t kBlock = kDotBlock;
  static constexpr int kRows = S::kDotRows;  // most samples in a tile
  static constexpr int kColumns = S::kDotColumns;

  // One tile's way through one block.
  struct Tile {
    const float* src;                // first row
    std::int64_t src_row, src_step;  // from row to row, from sixteen elements to the next
    const float* weights;            // first row
    std::int64_t weights_row;
    std::int64_t vectors, rest;  // whole vectors, and elements after them
    const float* ahead;          // weights to ask for
    float* dst;
    std::int64_t dst_row;
    const float* bias;  // set in the last block
    bool first, last, relu;
  };

  // R rows times C columns; asks for A rows of weights ahead.
  template <int R, int C, int A>
  static void tile(const Tile& t) {
    V sum[R][C];
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::zero(); });
    });
    const float* src = t.src;
    const float* weights = t.weights;
    const float* ahead = t.ahead;
    const std::int64_t src_row = t.src_row, weights_row = t.weights_row, src_step = t.src_step;
    for (std::int64_t v = t.vectors; v > 0; --v) {
      if constexpr (A > 0) {
        repeat<A>([&](auto a)
                      __attribute__((always_inline)) { __builtin_prefetch(ahead + a * weights_row, 0, S::kHint); });
        ahead += kLanes;
      }
      V w[C];
      repeat<C>([&](auto c) __attribute__((always_inline)) { w[c] = S::load(weights + c * weights_row); });
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        const V x = S::load(src + r * src_row);
        repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::fma(x, w[c], sum[r][c]); });
      });
      src += src_step;
      weights += kLanes;
    }
    if (t.rest > 0) {
      V w[C];
      repeat<C>([&](auto c) __attribute__((always_inline)) { w[c] = S::load_part(weights + c * weights_row, t.rest); });
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        const V x = S::load_part(src + r * src_row, t.rest);
        repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::fma(x, w[c], sum[r][c]); });
      });
    }
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      float s[C];
      S::template add_lanes<C>(sum[r], s);
      float* dst = t.dst + r * t.dst_row;
      repeat<C>([&](auto c) __attribute__((always_inline)) {
        float y = t.first ? s[c] : dst[c] + s[c];
        if (t.bias) y += t.bias[c];
        dst[c] = t.last && t.relu && y <= 0 ? 0.0f : y;
      });
    });
  }

  using Run = void (*)(const Tile&);
  template <int C, int A, int... r>
  static constexpr Run of_rows(std::int64_t rows, std::integer_sequence<int, r...>) {
    constexpr Run all[] = {tile<r + 1, C, A>...};
    return all[rows - 1];
  }
  template <int A>
  static Run run_of(std::int64_t rows, std::int64_t columns) {
    constexpr std::make_integer_sequence<int, kRows> all;
    if constexpr (kColumns >= 4)
      if (columns == 4) return of_rows<4, A>(rows, all);
    if constexpr (kColumns >= 3)
      if (columns == 3) return of_rows<3, 0>(rows, all);
    return columns == 2 ? of_rows < 2, kColumns == 2 ? A : 0 > (rows, all) : of_rows<1, 0>(rows, all);
  }

  static void pack(const float* src, std::int64_t src_row, std::int64_t rows, std::int64_t width, float* to) {
    const std::int64_t vectors = width / kLanes, rest = width % kLanes;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* from = src + r * src_row;
      float* out = to + r * kLanes;
      for (std::int64_t v = 0; v < vectors; ++v, from += kLanes, out += rows * kLanes) S::store(out, S::load(from));
      if (rest > 0) S::store(out, S::load_part(from, rest));
    }
  }

  static void run(const Dots& d) {
    for (std::int64_t parts = (d.m + kMostRows - 1) / kMostRows, part = 0, row = 0; part < parts; ++part) {
      const std::int64_t rows = (d.m - row) / (parts - part);
      for (std::int64_t k = 0; k < d.k; k += kBlock) block(d, row, rows, k);
      row += rows;
    }
  }

  static void block(const Dots& d, std::int64_t first_row, std::int64_t rows, std::int64_t k) {
    const std::int64_t width = std::min(kBlock, d.k - k), padded = (width + kLanes - 1) / kLanes * kLanes;
    const std::int64_t tiles = (rows + kRows - 1) / kRows;
    const bool packed = d.n >= S::kPackFrom;
    const float* src = d.src + first_row * d.k + k;
    float* dst = d.dst + first_row * d.n;
    if (packed)
      for (std::int64_t t = 0, row = 0; t < tiles; ++t) {
        const std::int64_t own = (rows - row) / (tiles - t);
        pack(src + row * d.k, d.k, own, width, d.panel + row * padded);
        row += own;
      }
    const bool last = k + width == d.k;
    for (std::int64_t n = 0; n < d.n; n += kColumns) {
      const std::int64_t columns = std::min<std::int64_t>(kColumns, d.n - n);
      const float* weights = d.weights + n * d.k + k;
      // The tile after this one: of the next rows, or of the next block's first.
      const float* next = n + 2 * kColumns <= d.n ? weights + kColumns * d.k : !last ? d.weights + k + width : weights;
      const float* bias = last && d.bias ? d.bias + n : nullptr;
      for (std::int64_t t = 0, row = 0; t < tiles; ++t) {
        const std::int64_t own = (rows - row) / (tiles - t);
        const Tile tile{.src = packed ? d.panel + row * padded : src + row * d.k,
                        .src_row = packed ? kLanes : d.k,
                        .src_step = packed ? own * kLanes : kLanes,
                        .weights = weights,
                        .weights_row = d.k,
                        .vectors = width / kLanes,
                        .rest = width % kLanes,
                        .ahead = next + t *
                                            (tiles < 2   ? 0
                                             : tiles < 4 ? 2
                                                         : 1) *
                                            d.k,
                        .dst = dst + row * d.n + n,
                        .dst_row = d.n,
                        .bias = bias,
                        .first = k == 0,
                        .last = last,
                        .relu = d.relu};
        const int asks = tiles == 1 ? 4 : tiles < 4 ? (t < 2 ? 2 : 0) : t < 4 ? 1 : 0;
        const Run run = asks == 4   ? run_of<kColumns>(own, columns)
                        : asks == 2 ? run_of<2>(own, columns)
                        : asks == 1 ? run_of<1>(own, columns)
                                    : run_of<0>(own, columns);
        run(tile);
        row += own;
      }
    }
  }
};

}  // namespace trireme::ops::dense_passes
