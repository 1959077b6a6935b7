// SumTiles: both gradients of dense layers, sums of rows times factors (see dense_passes.h). Thread-safe.
// Each instruction set's file includes this header after its target pragma; S is that file's vectors (see
// dense_avx512.cpp).
//
// Each result is one chain of fma over the terms in their order, so the block size does not change the bits. A tile of
// results, R rows of one or two vectors (a strip), stays in registers while the terms of a block pass; the factors of
// its rows are copied term by term. Two cases matter:
//   the gradient of src: few results and many terms (the weights), cut into blocks that stay in the L2 cache; terms
//     come from memory once, so the tiles share the prefetches of the next block, row by row
//   the gradient of weights: few terms (src), copied strip by strip when many tiles of results use them; each result
//     is written once, with non-temporal stores when the results do not fit in the cache
#pragma once

#include <algorithm>

#include "ops/dense/dense_passes.h"
#include "ops/vector/repeat.h"

namespace trireme::ops::dense_passes {

template <class S>
struct SumTiles {
  using V = typename S::Vector;
  static constexpr int kRows = S::kSumRows;  // the most results in a tile
  static constexpr int kColumns = S::kSumColumns;
  static constexpr std::int64_t kStrip = kColumns * kLanes;
  static_assert(kRows <= kMostSumRows && kColumns <= kMostSumColumns);

  // Some rows of results, strip by strip through a block of terms.
  struct Tile {
    const float* factors;  // [term][kMostSumRows]
    const float* terms;
    std::int64_t term_step, term_count, strip_step;
    float* results;
    std::int64_t result_step, strips;
    bool first;         // results hold nothing yet
    std::int64_t part;  // elements of the partial vector
    // Rows to prefetch, one cache line per term, starting at ahead_line.
    const float* ahead;
    std::int64_t ahead_line, ahead_lines, ahead_step, ahead_second;
  };

  enum class Kind { whole, prefetches, prefetches_two, streams, part };  // prefetches_two: in two rows at a time

  template <int R, int C, Kind kKind>
  static void tile(const Tile& t) {
    constexpr bool kPart = kKind == Kind::part,
                   kPrefetches = kKind == Kind::prefetches || kKind == Kind::prefetches_two;
    const std::int64_t part = t.part, result_step = t.result_step, term_step = t.term_step;
    const auto load = [&](const float* p) __attribute__((always_inline)) {
      return kPart ? S::load_part(p, part) : S::load(p);
    };
    float* results = t.results;
    const float* strip = t.terms;
    const float* ahead_row = t.ahead;
    std::int64_t ahead_line = t.ahead_line;
    for (std::int64_t strips = t.strips; strips > 0; --strips) {
      V sum[R][C];
      if (t.first)
        repeat<R>([&](auto r) __attribute__((always_inline)) {
          repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::zero(); });
        });
      else
        repeat<R>([&](auto r) __attribute__((always_inline)) {
          repeat<C>([&](auto c)
                        __attribute__((always_inline)) { sum[r][c] = load(results + r * result_step + c * kLanes); });
        });
      const float* factors = t.factors;
      const float* terms = strip;
      const auto pass = [&](std::int64_t count, const float* ahead) __attribute__((always_inline)) {
        for (; count > 0; --count) {
          if constexpr (kPrefetches) {
            __builtin_prefetch(ahead, 0, 2);
            if constexpr (kKind == Kind::prefetches_two) __builtin_prefetch(ahead + t.ahead_second, 0, 2);
            ahead += kLanes;
          }
          V w[C];
          repeat<C>([&](auto c) __attribute__((always_inline)) { w[c] = load(terms + c * kLanes); });
          repeat<R>([&](auto r) __attribute__((always_inline)) {
            const V f = S::splat(factors[r]);
            repeat<C>([&](auto c) __attribute__((always_inline)) { sum[r][c] = S::fma(f, w[c], sum[r][c]); });
          });
          factors += kMostSumRows;
          terms += term_step;
        }
      };
      if constexpr (kPrefetches) {
        for (std::int64_t left = t.term_count; left > 0;) {
          const std::int64_t lines = std::min(left, t.ahead_lines - ahead_line);
          pass(lines, ahead_row + ahead_line * kLanes);
          left -= lines;
          ahead_line += lines;
          if (ahead_line == t.ahead_lines) ahead_row += t.ahead_step, ahead_line = 0;
        }
      } else {
        pass(t.term_count, nullptr);
      }
      repeat<R>([&](auto r) __attribute__((always_inline)) {
        repeat<C>([&](auto c) __attribute__((always_inline)) {
          float* place = results + r * result_step + c * kLanes;
          if constexpr (kPart)
            S::store_part(place, sum[r][c], part);
          else if constexpr (kKind == Kind::streams)
            S::stream(place, sum[r][c]);
          else
            S::store(place, sum[r][c]);
        });
      });
      results += C * kLanes;
      strip += t.strip_step;
    }
  }

  using Run = void (*)(const Tile&);
  template <int C, Kind kKind>
  static Run tile_of(std::int64_t rows) {
    return [&]<int... r>(std::integer_sequence<int, r...>) {
      static constexpr Run all[] = {tile<r + 1, C, kKind>...};
      return all[rows - 1];
    }
    (std::make_integer_sequence<int, kRows>{});
  }

  // A range of the terms and a range of K.
  struct Block {
    std::int64_t term, count, k, width;
    const float* next;  // the next block's first row, or null when there is nothing to prefetch
    bool streams;       // results are written with non-temporal stores
  };

  static void run(const Sums& s) {
    const std::int64_t tiles = (s.result_count + kRows - 1) / kRows;
    const std::int64_t parts = (s.term_count + kMostTerms - 1) / kMostTerms;
    // Rows of 4 KB load fastest from memory; with several tiles arithmetic is the bottleneck, and smaller blocks stay
    // in the cache.
    const std::int64_t most = parts > 1 && tiles > 1 ? kSumBlock / 2 : kSumBlock;
    const bool streams = parts == 1 && s.k % kLanes == 0 && s.result_count * s.k >= kStreamFrom &&
                         reinterpret_cast<std::uintptr_t>(s.results) % (kLanes * sizeof(float)) == 0;
    for (std::int64_t k = 0; k < s.k; k += most) {
      const std::int64_t width = std::min(most, s.k - k);
      for (std::int64_t p = 0, term = 0; p < parts; ++p) {
        const std::int64_t count = (s.term_count - term) / (parts - p);
        const float* next = p + 1 < parts         ? s.terms + (term + count) * s.k + k
                            : k + 2 * most <= s.k ? s.terms + k + most
                                                  : nullptr;
        run(s, {term, count, k, width, parts > 1 ? next : nullptr, streams}, tiles);
        term += count;
      }
    }
    if (streams) S::fence();
  }

  static void run(const Sums& s, const Block& b, std::int64_t tiles) {
    float* const factors = s.panel;
    float* const copied = s.panel + std::min(s.term_count, kMostTerms) * kMostSumRows;
    const float* terms = s.terms + b.term * s.k + b.k;
    const bool copies = tiles >= kCopyForTiles;
    if (copies) copy(terms, s.k, b.count, b.width, copied);
    // The tiles share the prefetches of the next block's rows, line by line; a single tile prefetches in two rows.
    const std::int64_t lines = b.width / kLanes, strips = b.width / kStrip;
    std::int64_t prefetched = 0;
    for (std::int64_t t = 0, row = 0; t < tiles; ++t) {
      const std::int64_t rows = (s.result_count - row) / (tiles - t);
      copy_factors(s, row, rows, b.term, b.count, factors);
      Tile tile{.factors = factors,
                .terms = copies ? copied : terms,
                .term_step = copies ? kStrip : s.k,
                .term_count = b.count,
                .strip_step = copies ? b.count * kStrip : kStrip,
                .results = s.results + row * s.k + b.k,
                .result_step = s.k,
                .strips = strips,
                .first = b.term == 0,
                .part = b.width % kLanes,
                .ahead = nullptr,
                .ahead_line = 0,
                .ahead_lines = lines,
                .ahead_step = tiles == 1 ? 2 * s.k : s.k,
                .ahead_second = s.k};
      const bool prefetches = b.next && prefetched < b.count * lines;
      if (prefetches) {
        tile.ahead = b.next + prefetched / lines * s.k;
        tile.ahead_line = prefetched % lines;
        prefetched += strips * b.count;
      }
      (!prefetches  ? b.streams ? tile_of<kColumns, Kind::streams>(rows) : tile_of<kColumns, Kind::whole>(rows)
        : tiles == 1 ? tile_of<kColumns, Kind::prefetches_two>(rows)
                    : tile_of<kColumns, Kind::prefetches>(rows))(tile);
      tile.results += strips * kStrip;
      tile.terms += strips * tile.strip_step;
      tile.strips = (b.width - strips * kStrip) / kLanes;
      tile.strip_step = kLanes;
      if (tile.strips > 0) tile_of<1, Kind::whole>(rows)(tile);
      tile.results += tile.strips * kLanes;
      tile.terms += tile.strips * kLanes;
      tile.strips = 1;
      if (tile.part > 0) tile_of<1, Kind::part>(rows)(tile);
      row += rows;
    }
  }

  static void copy_factors(const Sums& s, std::int64_t row, std::int64_t rows, std::int64_t term, std::int64_t count,
                           float* to) {
    const float* from = s.factors + row * s.factor_of_result + term * s.factor_of_term;
    if (s.factor_of_result == 1)
      for (std::int64_t i = 0; i < count; ++i)
        S::store(to + i * kMostSumRows, S::load_part(from + i * s.factor_of_term, rows));
    else
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t i = 0; i < count; ++i)
          to[i * kMostSumRows + r] = from[r * s.factor_of_result + i * s.factor_of_term];
  }

  // Copies terms to [strip][term][kStrip] with zeros after the last element.
  static void copy(const float* from, std::int64_t step, std::int64_t count, std::int64_t width, float* to) {
    for (std::int64_t i = 0; i < count; ++i, from += step)
      for (std::int64_t k = 0; k < width; k += kLanes) {
        float* place = to + k / kStrip * count * kStrip + i * kStrip + k % kStrip;
        S::store(place, width - k >= kLanes ? S::load(from + k) : S::load_part(from + k, width - k));
      }
  }
};

}  // namespace trireme::ops::dense_passes
