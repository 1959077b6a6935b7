// Tiles: the passes between activations and transformed tiles. Included like winograd_lines.h.
#pragma once

#include <cstddef>

#include "ops/conv/winograd/winograd_lines.h"
#include "ops/conv/winograd/winograd_passes.h"

namespace trireme::ops::winograd {

template <class S>
struct Tiles {
  using V = typename S::Vector;
  using L = Lines<S>;
  static constexpr std::int64_t kBlock = S::kWidth;
  // Iterates over a range of tiles.
  struct TileWalk {
    const Maps& maps;
    std::int64_t sample, row, column;

    TileWalk(const Maps& m, std::int64_t tile) : maps(m) {
      const std::int64_t per_sample = m.tile_rows * m.tile_columns;
      sample = tile / per_sample;
      row = tile % per_sample / m.tile_columns;
      column = tile % m.tile_columns;
    }
    void next() {
      if (++column < maps.tile_columns) return;
      column = 0;
      if (++row < maps.tile_rows) return;
      row = 0;
      ++sample;
    }
  };

  // A row of zeros, read in place of the rows above and below a map.
  alignas(64) static constexpr float kZeros[kTile * kBlock] = {};

  // A window of N x N positions of a map. Rows outside the map read as zeros. Columns outside the map (there are none
  // if full()) must not be read.
  template <int N>
  struct Window {
    const float* rows[N];   // to column 0 of the window, which may lie outside the map
    std::int64_t from, to;  // columns inside the map

    [[gnu::always_inline]] Window(const float* map, std::int64_t height, std::int64_t width, std::int64_t y,
                                  std::int64_t x)
        : from(-x), to(width - x) {
      for (int i = 0; i < N; ++i)
        rows[i] = y + i >= 0 && y + i < height ? map + ((y + i) * width + x) * kBlock : kZeros;
    }
    bool full() const { return from <= 0 && to >= N; }
    [[gnu::always_inline]] V at(int i, int j) const { return S::load(rows[i] + j * kBlock); }
    template <bool kFull>
    [[gnu::always_inline]] bool inside(int j) const {
      return kFull || (j >= from && j < to);
    }
  };

  // Prefetches the memory that the tile one tile row below will read or write: rows of this map, or the memory after
  // it.
  [[gnu::always_inline]] static void prefetch(const float* map, std::int64_t width, std::int64_t y, std::int64_t x) {
    const float* at = map + ((y + kStep) * width + x) * kBlock;
    repeat<kStep>([&](auto i) __attribute__((always_inline)) {
      repeat<kStep>([&](auto j) __attribute__((always_inline)) { __builtin_prefetch(at + (i * width + j) * kBlock); });
    });
  }

  static void transform_src(const Maps& maps, const float* src, std::int64_t all_blocks, TileRange range,
                            BlockRange blocks, TilePlanes v) {
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      float* place = v.data + b * v.block;
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        const float* map = src + (at.sample * all_blocks + blocks.first + b) * maps.height * maps.width * kBlock;
        const std::int64_t y = kStep * at.row, x = kStep * at.column;
        prefetch(map, maps.width, y + 1, x);
        const Window<6> window(map, maps.height, maps.width, y - maps.pad_top, x - maps.pad_left);
        if (window.full())
          transform_window<true>(window, place, v.plane);
        else
          transform_window<false>(window, place, v.plane);
      }
    }
  }

  // The order of the columns keeps at most four transformed columns in registers.
  template <bool kFull>
  [[gnu::always_inline]] static void transform_window(const Window<6>& window, float* to, std::int64_t plane) {
    const auto column = [&](int j, V(&t)[6]) __attribute__((always_inline)) {
      if (!window.template inside<kFull>(j)) {
        repeat<6>([&](auto i) __attribute__((always_inline)) { t[i] = V{}; });
        return;
      }
      V d[6];
      repeat<6>([&](auto i) __attribute__((always_inline)) { d[i] = window.at(i, j); });
      L::src(d, t);
    };
    const auto write = [&](int i, int j, V value) __attribute__((always_inline)) {
      S::store(to + (i * 6 + j) * plane, value);
    };
    V odd[6], two[6], four[6], three[6];
    column(2, two);
    column(4, four);
    column(0, odd);
    repeat<6>([&](auto i) __attribute__((always_inline)) { write(i, 0, L::src_first(odd[i], two[i], four[i])); });
    column(1, odd);
    column(3, three);
    repeat<6>([&](auto i) __attribute__((always_inline)) {
      V line[4];
      L::src_inner(odd[i], two[i], three[i], four[i], line);
      repeat<4>([&](auto j) __attribute__((always_inline)) { write(i, j + 1, line[j]); });
    });
    column(5, two);
    repeat<6>([&](auto i) __attribute__((always_inline)) { write(i, 5, L::src_last(odd[i], three[i], two[i])); });
  }

  static void make_dst(const Maps& maps, TilePlanes m, TileRange range, BlockRange blocks, std::int64_t all_blocks,
                       const float* bias, bool relu, float* dst) {
    const std::int64_t row = 6 * m.plane;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      const float* place = m.data + b * m.block;
      const V shift = bias != nullptr ? S::load(bias + b * kBlock) : V{};
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        const std::int64_t y = kStep * at.row, x = kStep * at.column;
        const std::int64_t high = maps.out_height - y, wide = maps.out_width - x;
        float* map = dst + (at.sample * all_blocks + blocks.first + b) * maps.out_height * maps.out_width * kBlock;
        prefetch(map, maps.out_width, y, x);
        float* to = map + (y * maps.out_width + x) * kBlock;
        const auto column = [&](int j, V(&t)[4]) __attribute__((always_inline)) {
          const float* from = place + j * m.plane;
          V points[6];
          repeat<6>([&](auto i) __attribute__((always_inline)) { points[i] = S::load(from + i * row); });
          L::dst(points, t);
        };
        const auto write = [&](int i, int j, V value) __attribute__((always_inline)) {
          if (i >= high || j >= wide) return;
          value = value + shift;
          S::store(to + (i * maps.out_width + j) * kBlock, relu ? S::positive_part(value) : value);
        };
        V near[4], near_odd[4], far[4], far_odd[4], outer[4];
        columns_of_pair(column, 1, near, near_odd);
        columns_of_pair(column, 3, far, far_odd);
        column(0, outer);
        repeat<4>([&](auto i) __attribute__((always_inline)) {
          write(i, 0, L::dst_0(outer[i], near[i], far[i]));
          write(i, 1, L::dst_1(near_odd[i], far_odd[i]));
          write(i, 2, L::dst_2(near[i], far[i]));
        });
        column(5, outer);
        repeat<4>([&](auto i)
                      __attribute__((always_inline)) { write(i, 3, L::dst_3(near_odd[i], far_odd[i], outer[i])); });
      }
    }
  }

  // The sum and the difference of two columns.
  template <class F, std::size_t N>
  [[gnu::always_inline]] static void columns_of_pair(const F& column, int j, V (&sum)[N], V (&difference)[N]) {
    V a[N], b[N];
    column(j, a);
    column(j + 1, b);
    repeat<N>([&](auto i) __attribute__((always_inline)) {
      sum[i] = a[i] + b[i];
      difference[i] = a[i] - b[i];
    });
  }

  static void transform_diff_dst(const Maps& maps, const float* diff_dst, const float* dst, std::int64_t all_blocks,
                                 TileRange range, BlockRange blocks, TilePlanes d, float* diff_bias) {
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      float* place = d.data + b * d.block;
      V sum = diff_bias != nullptr ? S::load(diff_bias + b * kBlock) : V{};
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        const std::int64_t map =
            (at.sample * all_blocks + blocks.first + b) * maps.out_height * maps.out_width * kBlock;
        const std::int64_t y = kStep * at.row, x = kStep * at.column;
        prefetch(diff_dst + map, maps.out_width, y, x);
        const Window<4> window(diff_dst + map, maps.out_height, maps.out_width, y, x);
        V t[6][4];
        const auto transform = [&](const auto& value) __attribute__((always_inline)) {
          repeat<4>([&](auto j) __attribute__((always_inline)) {
            V line[6];
            if (window.template inside<false>(j)) {
              const V given[4] = {value(0, j), value(1, j), value(2, j), value(3, j)};
              if (diff_bias != nullptr) sum = sum + ((given[0] + given[1]) + (given[2] + given[3]));
              L::diff_dst(given, line);
            } else {
              repeat<6>([&](auto i) __attribute__((always_inline)) { line[i] = V{}; });
            }
            repeat<6>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
          });
        };
        if (dst == nullptr) {
          transform([&](int i, int j) __attribute__((always_inline)) { return window.at(i, j); });
        } else {
          prefetch(dst + map, maps.out_width, y, x);
          const Window<4> sign(dst + map, maps.out_height, maps.out_width, y, x);
          transform([&](int i, int j)
                        __attribute__((always_inline)) { return S::where_positive(sign.at(i, j), window.at(i, j)); });
        }
        repeat<6>([&](auto i) __attribute__((always_inline)) {
          V line[6];
          L::diff_dst(t[i], line);
          repeat<6>([&](auto j) __attribute__((always_inline)) { S::store(place + (i * 6 + j) * d.plane, line[j]); });
        });
      }
      if (diff_bias != nullptr) S::store(diff_bias + b * kBlock, sum);
    }
  }

  static void make_diff_src(const Maps& maps, TilePlanes dv, TileRange range, BlockRange blocks,
                            std::int64_t all_blocks, float* diff_src) {
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      const float* place = dv.data + b * dv.block;
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        float* map = diff_src + (at.sample * all_blocks + blocks.first + b) * maps.height * maps.width * kBlock;
        const std::int64_t y = kStep * at.row, x = kStep * at.column;
        prefetch(map, maps.width, y + 1, x);
        const Cells cells{map, maps.height, maps.width, y - maps.pad_top, x - maps.pad_left, at.row > 0, at.column > 0};
        if (cells.left && cells.x + kTile <= maps.width)
          add_tile<true>(place, dv.plane, cells);
        else
          add_tile<false>(place, dv.plane, cells);
      }
    }
  }

  // The target of a tile in diff_src. Its first rows and columns may already hold sums of the tiles above and to the
  // left.
  struct Cells {
    float* map;
    std::int64_t height, width, y, x;
    bool above, left;

    // kInner: all columns lie inside the map, and there is a tile to the left.
    template <bool kInner>
    [[gnu::always_inline]] void add(int i, const V (&line)[6]) const {
      if (y + i < 0 || y + i >= height) return;
      float* to = map + ((y + i) * width + x) * kBlock;
      const bool all = i < 2 && above;
      repeat<6>([&](auto j) __attribute__((always_inline)) {
        if (!kInner && (x + j < 0 || x + j >= width)) return;
        V value = line[j];
        if (all || (j < 2 && (kInner || left))) value = S::load(to + j * kBlock) + value;
        S::store(to + j * kBlock, value);
      });
    }
  };

  // Computes the even rows of the result, then the odd rows: only half of the rows fit in registers.
  template <bool kInner>
  [[gnu::always_inline]] static void add_tile(const float* from, std::int64_t plane, const Cells& cells) {
    const std::int64_t row = 6 * plane;
    const auto at = [&](int i, int j) __attribute__((always_inline)) { return S::load(from + j * plane + i * row); };
    const auto half = [&](int first, const auto& column) __attribute__((always_inline)) {
      V t[3][6];
      repeat<6>([&](auto j) __attribute__((always_inline)) {
        V part[3];
        column(j, part);
        repeat<3>([&](auto i) __attribute__((always_inline)) { t[i][j] = part[i]; });
      });
      repeat<3>([&](auto i) __attribute__((always_inline)) {
        V line[6];
        L::diff_src(t[i], line);
        cells.template add<kInner>(first + 2 * i, line);
      });
    };
    half(
        0, [&](int j, V(&part)[3]) __attribute__((always_inline)) {
          L::diff_src_even(at(0, j), at(1, j) + at(2, j), at(3, j) + at(4, j), part);
        });
    half(
        1, [&](int j, V(&part)[3]) __attribute__((always_inline)) {
          L::diff_src_odd(at(1, j) - at(2, j), at(3, j) - at(4, j), at(5, j), part);
        });
  }
};

}  // namespace trireme::ops::winograd
