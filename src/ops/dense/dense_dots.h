// DotTiles: forward of dense layers, dot products of rows of src with rows of weights. Thread-safe.
// Each instruction set's file includes this header after its target pragma; S is that file's vectors (see
// dense_avx512.cpp).
//
// The order of additions depends on K alone. Rows are cut into blocks of kDotBlock elements. Within a block, lane i of
// sixteen sums the products of elements i, i + 16, ... with fma; missing elements count as zeros. The lanes are added
// by halves, quarters, eighths and pairs. The blocks' sums are added in order, then the bias.
//
// As much of src as stays in the L2 cache (a panel) is copied, tile by tile, in the order of use. Weights are read in
// place, in one of two orders (see run()). Both prefetch them, because pieces of rows of 4 KB are too short for the
// CPU's prefetcher.
#pragma once

#include <algorithm>

#include "ops/dense/dense_finish.h"
#include "ops/dense/dense_passes.h"
#include "ops/vector/repeat.h"

namespace trireme::ops::dense_passes {

template <class S>
struct DotTiles {
  using V = typename S::Vector;
  static constexpr int kRows = S::kDotRows;  // the most samples in a tile
  static constexpr int kColumns = S::kDotColumns;

  // The work of one tile in one block. In a panel the tile's rows are interleaved in pieces of sixteen elements.
  struct Tile {
    const float* src;      // first row
    std::int64_t src_row;  // distance between rows outside a panel
    const float* weights;  // first row
    std::int64_t weights_row;
    std::int64_t vectors, rest;  // whole vectors, and elements after them
    const float* ahead;          // weights to prefetch
    float* dst;
    std::int64_t dst_row;
    Finish finish;
  };

  // R rows times C columns; prefetches A rows of weights.
  template <int R, int C, int A, bool kPanel>
  static void tile(const Tile& t) {
    V sum[R][C];
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::zero(); });
    });
    const float* src = t.src;
    const float* weights = t.weights;
    const float* ahead = t.ahead;
    const std::int64_t weights_row = t.weights_row, src_row = kPanel ? kLanes : t.src_row;
    const auto step = [&](const auto& load) __attribute__((always_inline)) {
      V w[C];
      repeat<C>([&](auto c) __attribute__((always_inline)) { w[c] = load(weights + c * weights_row); });
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        V x = load(src + r * src_row);
        if constexpr (C == 2) S::keep(x);
        repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::fma(x, w[c], sum[r][c]); });
      });
    };
    for (std::int64_t v = t.vectors; v > 0; --v) {
      repeat<A>([&](auto a) __attribute__((always_inline)) { __builtin_prefetch(ahead + a * weights_row, 0, 2); });
      step([](const float* p) __attribute__((always_inline)) { return S::load(p); });
      ahead += kLanes;
      weights += kLanes;
      src += kPanel ? R * kLanes : kLanes;
    }
    if (t.rest > 0) step([&](const float* p) __attribute__((always_inline)) { return S::load_part(p, t.rest); });

    float* const dst = t.dst;
    const std::int64_t dst_row = t.dst_row;
    const Finish finish = t.finish;
    const V none = S::zero();
    if constexpr (C == 4)
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        finish.template row<4>(S::add_lanes(sum[r][0], sum[r][1], sum[r][2], sum[r][3]), dst + r * dst_row);
      });
    if constexpr (C == 2) {
      repeat<R / 2>([&](auto i) __attribute__((always_inline)) {
        constexpr int r = 2 * i;
        finish.two_rows(S::add_lanes(sum[r][0], sum[r][1], sum[r + 1][0], sum[r + 1][1]), dst + r * dst_row,
                        dst + (r + 1) * dst_row);
      });
      if constexpr (R % 2 == 1)
        finish.template row<2>(S::add_lanes(sum[R - 1][0], sum[R - 1][1], none, none), dst + (R - 1) * dst_row);
    }
    if constexpr (C == 1)
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        finish.template row<1>(S::add_lanes(sum[r][0], none, none, none), dst + r * dst_row);
      });
  }

  using Run = void (*)(const Tile&);
  template <int C, int A, bool kPanel>
  static Run tile_of(std::int64_t rows) {
    return [&]<int... r>(std::integer_sequence<int, r...>) {
      static constexpr Run all[] = {tile<r + 1, C, A, kPanel>...};
      return all[rows - 1];
    }
    (std::make_integer_sequence<int, kRows>{});
  }

  // With many samples arithmetic is the bottleneck: kColumns rows of weights are used for all samples while they are in
  // the cache. With few samples memory bandwidth is: two long rows of weights are read at a time, and 64 rows one after
  // the other for one tile of src that stays in the L1 cache. If the weights fit in the cache, or with at most three
  // samples, the first order is faster again. All thresholds were measured.
  static void run(const Dots& d) {
    const bool few = kColumns > 2 && d.m > 3 && d.m <= 4 * kRows && d.n * d.k > (4 << 20);
    for (std::int64_t parts = (d.m + kMostRows - 1) / kMostRows, part = 0, row = 0; part < parts; ++part) {
      const std::int64_t rows = (d.m - row) / (parts - part);
      const std::int64_t width = kPanelFloats / (rows * kDotBlock) * kDotBlock;
      for (std::int64_t k = 0; k < d.k; k += width) {
        const Part own{row, rows, k, std::min(k + width, d.k)};
        if (few)
          blocks<2>(d, own, 64);
        else
          blocks<kColumns>(d, own, kColumns);
      }
      row += rows;
    }
  }

  struct Part {
    std::int64_t first_row, rows, begin, end;  // of src; elements of K
  };

  // All dot products of a part, in groups of `group_size` outputs.
  template <int C>
  static void blocks(const Dots& d, const Part& part, std::int64_t group_size) {
    const std::int64_t tiles = (part.rows + kRows - 1) / kRows;
    const float* src = d.src + part.first_row * d.k;
    const bool panel = d.n >= kCopyFrom;
    const auto panel_at = [&](std::int64_t row, std::int64_t k) {
      return d.panel + part.rows * (k - part.begin) + row * round_up(std::min(kDotBlock, part.end - k));
    };
    if (panel)
      for (std::int64_t t = 0, row = 0; t < tiles; ++t) {
        const std::int64_t rows = (part.rows - row) / (tiles - t);
        for (std::int64_t k = part.begin; k < part.end; k += kDotBlock)
          copy(src + row * d.k + k, d.k, rows, std::min(kDotBlock, part.end - k), panel_at(row, k));
        row += rows;
      }
    for (std::int64_t group = 0; group < d.n; group += group_size) {
      const std::int64_t group_end = std::min(group + group_size, d.n);
      for (std::int64_t k = part.begin; k < part.end; k += kDotBlock) {
        const std::int64_t width = std::min(kDotBlock, part.end - k);
        // The weights after this group's block: its next block, or the next group's first.
        const float* after = k + width < part.end            ? d.weights + group * d.k + k + width
                             : group_end + group_size <= d.n ? d.weights + group_end * d.k + part.begin
                                                             : nullptr;
        const bool last = k + width == d.k;
        for (std::int64_t t = 0, row = 0; t < tiles; ++t) {
          const std::int64_t rows = (part.rows - row) / (tiles - t);
          Tile tile{.src = panel ? panel_at(row, k) : src + row * d.k + k,
                    .src_row = d.k,
                    .weights = d.weights + group * d.k + k,
                    .weights_row = d.k,
                    .vectors = width / kLanes,
                    .rest = width % kLanes,
                    .ahead = nullptr,
                    .dst = d.dst + (part.first_row + row) * d.n + group,
                    .dst_row = d.n,
                    .finish = {k == 0, last && d.bias ? d.bias + group : nullptr, last && d.relu}};
          columns<C>(tile, rows, group_end - group, panel, tiles, t, after);
          row += rows;
        }
      }
    }
  }

  // A tile of src with the `count` outputs of a group. Several tiles share the prefetches of the weights that follow
  // the group; a single tile prefetches the weights that it needs itself two tiles later.
  template <int C>
  static void columns(Tile& tile, std::int64_t rows, std::int64_t count, bool panel, std::int64_t tiles,
                      std::int64_t number, const float* after) {
    const auto move_on = [&](std::int64_t by) {
      tile.weights += by * tile.weights_row;
      tile.dst += by;
      if (tile.finish.bias) tile.finish.bias += by;
    };
    const std::int64_t ahead = tiles > 1 ? count : 2 * C;
    std::int64_t n = 0;
    for (; n + C <= count; n += C, move_on(C)) {
      const bool within = n + ahead + C <= count;
      const bool prefetches = panel && (within || after) && (tiles == 1 || (after && number < C));
      if (prefetches)
        tile.ahead = within ? tile.weights + ahead * tile.weights_row
                            : after + (n + ahead - count + (tiles > 1 ? number : 0)) * tile.weights_row;
      (!panel        ? tile_of<C, 0, false>(rows)
       : !prefetches ? tile_of<C, 0, true>(rows)
       : tiles == 1  ? tile_of<C, C, true>(rows)
                     : tile_of<C, 1, true>(rows))(tile);
    }
    if constexpr (C == 4)
      if (n + 2 <= count) {
        (panel ? tile_of<2, 0, true>(rows) : tile_of<2, 0, false>(rows))(tile);
        n += 2, move_on(2);
      }
    if (n < count) (panel ? tile_of<1, 0, true>(rows) : tile_of<1, 0, false>(rows))(tile);
  }

  static void copy(const float* src, std::int64_t src_row, std::int64_t rows, std::int64_t width, float* to) {
    const std::int64_t vectors = width / kLanes, rest = width % kLanes;
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* from = src + r * src_row;
      float* out = to + r * kLanes;
      for (std::int64_t v = 0; v < vectors; ++v, from += kLanes, out += rows * kLanes) S::store(out, S::load(from));
      if (rest > 0) S::store(out, S::load_part(from, rest));
    }
  }
};

}  // namespace trireme::ops::dense_passes
