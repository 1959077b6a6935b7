// The passes between activations and transformed tiles. Included as winograd_lines.h is.
#pragma once

#include "ops/winograd_lines.h"
#include "ops/winograd_passes.h"

namespace trireme::ops::winograd {

template <class S>
struct Tiles {
  using V = typename S::Vector;
  using L = Lines<S>;
  static constexpr std::int64_t kBlock = S::kWidth;
  // Walks over a run of tiles.
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

  // One row of zeros for what lies above and below a map.
  alignas(64) static constexpr float kZeros[kTile * kBlock] = {};

  // A window of N x N places of a map: a pointer to each row. What lies outside the map is zero: rows by pointing at
  // zeros, columns by a copy.
  template <int N>
  struct Window {
    const float* rows[N];
    alignas(64) float copy[N * N * kBlock];

    [[gnu::always_inline]] void look(const float* map, std::int64_t height, std::int64_t width, std::int64_t y,
                                     std::int64_t x) {
      if (x >= 0 && x + N <= width) {
        for (int i = 0; i < N; ++i)
          rows[i] = y + i >= 0 && y + i < height ? map + ((y + i) * width + x) * kBlock : kZeros;
        return;
      }
      const int from = x < 0 ? static_cast<int>(-x) : 0, to = width - x < N ? static_cast<int>(width - x) : N;
      for (int i = 0; i < N; ++i) {
        const bool inside = y + i >= 0 && y + i < height;
        if (!inside) {
          rows[i] = kZeros;
          continue;
        }
        float* line = copy + i * N * kBlock;
        const float* given = map + ((y + i) * width + x + from) * kBlock;
        for (int j = 0; j < N; ++j)
          S::store(line + j * kBlock, j >= from && j < to ? S::load(given + (j - from) * kBlock) : V{});
        rows[i] = line;
      }
    }
  };

  static void transform_src(const Maps& maps, const float* src, std::int64_t all_blocks, TileRange range,
                            BlockRange blocks, TilePlanes v) {
    Window<6> window;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      float* place = v.data + b * v.block;
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        const float* map = src + (at.sample * all_blocks + blocks.first + b) * maps.height * maps.width * kBlock;
        window.look(map, maps.height, maps.width, kStep * at.row - maps.pad_top, kStep * at.column - maps.pad_left);
        V t[6][6];
        repeat<6>([&](auto j) __attribute__((always_inline)) {
          V d[6], line[6];
          repeat<6>([&](auto i) __attribute__((always_inline)) { d[i] = S::load(window.rows[i] + j * kBlock); });
          L::src(d, line);
          repeat<6>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
        });
        float* to = place;
        repeat<6>([&](auto i) __attribute__((always_inline)) {
          V line[6];
          L::src(t[i], line);
          repeat<6>([&](auto j) __attribute__((always_inline)) {
            S::store(to, line[j]);
            to += v.plane;
          });
        });
      }
    }
  }

  static void make_dst(const Maps& maps, TilePlanes m, TileRange range, BlockRange blocks, std::int64_t all_blocks,
                       const float* bias, bool relu, float* dst) {
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      const float* place = m.data + b * m.block;
      const V shift = bias != nullptr ? S::load(bias + b * kBlock) : V{};
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        V t[4][6];
        V given[6][6];
        repeat<6>([&](auto i) __attribute__((always_inline)) {
          repeat<6>([&](auto j)
                        __attribute__((always_inline)) { given[i][j] = S::load(place + (i * 6 + j) * m.plane); });
        });
        repeat<6>([&](auto j) __attribute__((always_inline)) {
          V column[6], line[4];
          repeat<6>([&](auto i) __attribute__((always_inline)) { column[i] = given[i][j]; });
          L::dst(column, line);
          repeat<4>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
        });
        const std::int64_t y = kStep * at.row, x = kStep * at.column;
        const std::int64_t high = maps.out_height - y, wide = maps.out_width - x;
        float* map =
            dst + (((at.sample * all_blocks + blocks.first + b) * maps.out_height + y) * maps.out_width + x) * kBlock;
        repeat<4>([&](auto i) __attribute__((always_inline)) {
          V line[4];
          L::dst(t[i], line);
          repeat<4>([&](auto j) __attribute__((always_inline)) {
            V value = bias != nullptr ? line[j] + shift : line[j];
            if (relu) value = S::positive_part(value);
            if (i < high && j < wide) S::store(map + (i * maps.out_width + j) * kBlock, value);
          });
        });
      }
    }
  }

  static void transform_diff_dst(const Maps& maps, const float* diff_dst, const float* dst, std::int64_t all_blocks,
                                 TileRange range, BlockRange blocks, TilePlanes d, float* diff_bias) {
    Window<4> window, mask;
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      float* place = d.data + b * d.block;
      V sum = diff_bias != nullptr ? S::load(diff_bias + b * kBlock) : V{};
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        const std::int64_t map =
            (at.sample * all_blocks + blocks.first + b) * maps.out_height * maps.out_width * kBlock;
        window.look(diff_dst + map, maps.out_height, maps.out_width, kStep * at.row, kStep * at.column);
        if (dst != nullptr) mask.look(dst + map, maps.out_height, maps.out_width, kStep * at.row, kStep * at.column);
        V t[6][4];
        repeat<4>([&](auto j) __attribute__((always_inline)) {
          V y[4], line[6];
          repeat<4>([&](auto i) __attribute__((always_inline)) { y[i] = S::load(window.rows[i] + j * kBlock); });
          if (dst != nullptr)
            repeat<4>([&](auto i) __attribute__((always_inline)) {
              y[i] = S::where_positive(S::load(mask.rows[i] + j * kBlock), y[i]);
            });
          L::diff_dst(y, line);
          repeat<6>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
        });
        float* to = place;
        repeat<6>([&](auto i) __attribute__((always_inline)) {
          V line[6];
          L::diff_dst(t[i], line);
          if constexpr (i == 1) sum = sum + line[1];  // the point (1, 1) holds the sum of the tile
          repeat<6>([&](auto j) __attribute__((always_inline)) {
            S::store(to, line[j]);
            to += d.plane;
          });
        });
      }
      if (diff_bias != nullptr) S::store(diff_bias + b * kBlock, sum);
    }
  }

  static void make_diff_src(const Maps& maps, TilePlanes dv, TileRange range, BlockRange blocks,
                            std::int64_t all_blocks, float* diff_src) {
    alignas(64) float cells[kPoints * kBlock];
    for (std::int64_t b = 0; b < blocks.count; ++b) {
      TileWalk at(maps, range.first);
      const float* place = dv.data + b * dv.block;
      for (std::int64_t tile = 0; tile < range.count; ++tile, at.next(), place += kBlock) {
        V t[6][6];
        repeat<6>([&](auto j) __attribute__((always_inline)) {
          V m[6], line[6];
          repeat<6>([&](auto i) __attribute__((always_inline)) { m[i] = S::load(place + (i * 6 + j) * dv.plane); });
          L::diff_src(m, line);
          repeat<6>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
        });
        const std::int64_t y = kStep * at.row - maps.pad_top, x = kStep * at.column - maps.pad_left;
        float* map = diff_src + (at.sample * all_blocks + blocks.first + b) * maps.height * maps.width * kBlock;
        if (at.column > 0 && x + kTile <= maps.width) {
          repeat<6>([&](auto i) __attribute__((always_inline)) {
            V line[6];
            L::diff_src(t[i], line);
            if (y + i < 0 || y + i >= maps.height) return;
            float* to = map + ((y + i) * maps.width + x) * kBlock;
            const bool reached = i < 2 && at.row > 0;
            repeat<6>([&](auto j) __attribute__((always_inline)) {
              if (j < 2 || reached) line[j] = S::load(to + j * kBlock) + line[j];
              S::store(to + j * kBlock, line[j]);
            });
          });
          continue;
        }
        repeat<6>([&](auto i) __attribute__((always_inline)) {
          V line[6];
          L::diff_src(t[i], line);
          repeat<6>([&](auto j) __attribute__((always_inline)) { S::store(cells + (i * 6 + j) * kBlock, line[j]); });
        });
        for (int i = 0; i < kTile; ++i) {
          if (y + i < 0 || y + i >= maps.height) continue;
          for (int j = 0; j < kTile; ++j) {
            if (x + j < 0 || x + j >= maps.width) continue;
            float* to = map + ((y + i) * maps.width + x + j) * kBlock;
            V value = S::load(cells + (i * 6 + j) * kBlock);
            if ((i < 2 && at.row > 0) || (j < 2 && at.column > 0)) value = S::load(to) + value;
            S::store(to, value);
          }
        }
      }
    }
  }
};

}  // namespace trireme::ops::winograd
