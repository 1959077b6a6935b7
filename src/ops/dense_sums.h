// Both gradients of dense layers: sums of rows times factors (see dense_passes.h). Included by the file of one
// instruction set after its target pragma; S is that file's vectors.
//
// Each result is one chain of fma over the terms in their order, so blocks may be cut freely. A block of terms is
// copied strip by strip (a strip: a few vectors of every term), the factors of a tile's results term by term.
#pragma once

#include <algorithm>

#include "ops/dense_passes.h"
#include "ops/repeat.h"

namespace trireme::ops::dense_passes {

template <class S>
struct SumTiles {
  using V = typename S::Vector;
  static constexpr int kRows = S::kSumRows;  // most results in a tile
  static constexpr int kColumns = S::kSumColumns;
  static constexpr std::int64_t kStrip = kColumns * kLanes;
  static constexpr std::int64_t kBlock = kSumBlock;
  static_assert(kRows <= kMostSumRows && kColumns <= kMostSumColumns);

  struct Tile {
    const float* factors;  // [term][kMostSumRows]
    const float* terms;
    std::int64_t term_step;
    std::int64_t count;  // of terms
    float* results;
    std::int64_t result_step;
    bool first;
    std::int64_t part;  // elements of the last vector, where it is not whole
    const float* ahead;
    std::int64_t ahead_step;
  };

  template <int R, int C, bool kPart>
  static void tile(const Tile& t) {
    V sum[R][C];
    const auto at = [&](auto r, auto c) __attribute__((always_inline)) {
      return t.results + r * t.result_step + c * kLanes;
    };
    if (t.first)
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::zero(); });
      });
    else
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        repeat<C>([&](auto c) __attribute__((always_inline)) {
          sum[r][c] = kPart ? S::load_part(at(r, c), t.part) : S::load(at(r, c));
        });
      });
    const float* factors = t.factors;
    const float* terms = t.terms;
    const float* ahead = t.ahead;
    for (std::int64_t i = t.count; i > 0; --i) {
      V w[C];
      repeat<C>([&](auto c) __attribute__((always_inline)) {
        w[c] = kPart ? S::load_part(terms + c * kLanes, t.part) : S::load(terms + c * kLanes);
      });
      __builtin_prefetch(ahead, 0, S::kHint);
      ahead += t.ahead_step;
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        const V f = S::splat(factors[r]);
        repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::fma(f, w[c], sum[r][c]); });
      });
      factors += kMostSumRows;
      terms += t.term_step;
    }
    repeat<R>([&](auto r) __attribute__((always_inline)) {
      repeat<C>([&](auto c) __attribute__((always_inline)) {
        if constexpr (kPart)
          S::store_part(at(r, c), sum[r][c], t.part);
        else
          S::store(at(r, c), sum[r][c]);
      });
    });
  }

  using Run = void (*)(const Tile&);
  template <int C, bool kPart, int... r>
  static constexpr Run of_rows(std::int64_t rows, std::integer_sequence<int, r...>) {
    constexpr Run all[] = {tile<r + 1, C, kPart>...};
    return all[rows - 1];
  }

  static void run(const Sums& s) {
    constexpr std::make_integer_sequence<int, kRows> all;
    const std::int64_t parts = (s.term_count + kMostTerms - 1) / kMostTerms;
    const std::int64_t tiles = (s.result_count + kRows - 1) / kRows;
    float* factors = s.panel;
    float* terms = s.panel + std::min(s.term_count, kMostTerms) * kMostSumRows;
    const bool packed = tiles > 1;
    for (std::int64_t k = 0; k < s.k; k += kBlock) {
      const std::int64_t width = std::min(kBlock, s.k - k);
      for (std::int64_t part = 0, term = 0; part < parts; ++part) {
        const std::int64_t count = (s.term_count - term) / (parts - part);
        const float* from = s.terms + term * s.k + k;
        if (packed) pack(from, s.k, count, width, terms);
        const float* next = part + 1 < parts ? from + count * s.k : s.terms + std::min(k + kBlock, s.k - 1);
        for (std::int64_t t = 0, row = 0, call = 0; t < tiles; ++t) {
          const std::int64_t rows = (s.result_count - row) / (tiles - t);
          for (std::int64_t i = 0; i < count; ++i)
            for (std::int64_t r = 0; r < rows; ++r)
              factors[i * kMostSumRows + r] = s.factors[(row + r) * s.factor_of_result + (term + i) * s.factor_of_term];
          Tile tile{.factors = factors,
                    .terms = packed ? terms : from,
                    .term_step = packed ? kStrip : s.k,
                    .count = count,
                    .results = s.results + row * s.k + k,
                    .result_step = s.k,
                    .first = term == 0,
                    .part = width % kLanes,
                    .ahead = nullptr,
                    .ahead_step = 0};
          std::int64_t left = width;
          const auto advance = [&](std::int64_t done) {
            left -= done;
            tile.results += done;
            tile.terms += packed ? count * kStrip : done;
          };
          for (; left >= kStrip; advance(kStrip), ++call) {
            const bool asks = parts > 1 && call < count;
            tile.ahead = asks ? next + call * s.k : factors;
            tile.ahead_step = asks ? kLanes : 0;
            of_rows<kColumns, false>(rows, all)(tile);
          }
          tile.ahead = factors;
          tile.ahead_step = 0;
          if (left > 0) {
            std::int64_t vectors = left / kLanes;
            for (std::int64_t v = 0; v < vectors; ++v) {
              of_rows<1, false>(rows, all)(tile);
              tile.results += kLanes, tile.terms += kLanes, left -= kLanes;
            }
            if (left > 0) of_rows<1, true>(rows, all)(tile);
          }
          row += rows;
        }
        term += count;
      }
    }
  }

  static void pack(const float* from, std::int64_t step, std::int64_t count, std::int64_t width, float* to) {
    for (std::int64_t i = 0; i < count; ++i) {
      const float* row = from + i * step;
      for (std::int64_t x = 0; x < width; x += kLanes) {
        float* place = to + x / kStrip * count * kStrip + i * kStrip + x % kStrip;
        S::store(place, width - x >= kLanes ? S::load(row + x) : S::load_part(row + x, width - x));
      }
    }
  }
};

}  // namespace trireme::ops::dense_passes
