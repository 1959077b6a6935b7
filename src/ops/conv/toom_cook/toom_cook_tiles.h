// Tiles: the passes between activations and transformed tiles. Included like toom_cook_lines.h.
#pragma once

#include <algorithm>

#include "ops/conv/toom_cook/toom_cook_lines.h"
#include "ops/conv/toom_cook/toom_cook_passes.h"

namespace trireme::ops::toom_cook {

template <class S>
struct Tiles {
  using V = typename S::Vector;
  using L = Lines<S>;
  static constexpr std::int64_t kBlock = S::kWidth;

  // The positions x to x + N - 1 of a line of `width`; zeros outside.
  template <int N, class F>
  [[gnu::always_inline]] static void read(std::int64_t x, std::int64_t width, V (&values)[N], const F& value) {
    if (x >= 0 && x + N <= width)
      repeat<N>([&](auto i) __attribute__((always_inline)) { values[i] = value(i); });
    else
      repeat<N>([&](auto i)
                    __attribute__((always_inline)) { values[i] = x + i >= 0 && x + i < width ? value(i) : V{}; });
  }

  [[gnu::always_inline]] static void write_points(const V (&points)[kPoints], float* to, std::int64_t plane) {
    repeat<kPoints>([&](auto e) __attribute__((always_inline)) { S::store(to + e * plane, points[e]); });
  }
  [[gnu::always_inline]] static void read_points(const float* from, std::int64_t plane, V (&points)[kPoints]) {
    repeat<kPoints>([&](auto e) __attribute__((always_inline)) { points[e] = S::load(from + e * plane); });
  }

  static void transform_src(const Line& line, const float* src, TileRange range, std::int64_t blocks, TilePlanes v) {
    for (std::int64_t b = 0; b < blocks; ++b, src += line.width * kBlock) {
      float* to = v.data + b * v.block;
      std::int64_t x = kStep * range.first - line.padding;
      for (std::int64_t tile = 0; tile < range.count; ++tile, x += kStep, to += kBlock) {
        V d[kPoints], points[kPoints];
        read(
            x, line.width, d, [&](int i) __attribute__((always_inline)) { return S::load(src + (x + i) * kBlock); });
        L::src(d, points);
        write_points(points, to, v.plane);
      }
    }
  }

  static void make_dst(const Line& line, TilePlanes m, TileRange range, std::int64_t blocks, const float* bias,
                       bool relu, float* dst) {
    for (std::int64_t b = 0; b < blocks; ++b, dst += line.out_width * kBlock) {
      const float* from = m.data + b * m.block;
      const V shift = bias != nullptr ? S::load(bias + b * kBlock) : V{};
      std::int64_t x = kStep * range.first;
      for (std::int64_t tile = 0; tile < range.count; ++tile, x += kStep, from += kBlock) {
        V points[kPoints], y[kStep];
        read_points(from, m.plane, points);
        L::dst(points, y);
        repeat<kStep>([&](auto i) __attribute__((always_inline)) {
          y[i] = y[i] + shift;
          if (relu) y[i] = S::positive_part(y[i]);
          if (x + i < line.out_width) S::store(dst + (x + i) * kBlock, y[i]);
        });
      }
    }
  }

  static void transform_diff_dst(const Line& line, const float* diff_dst, const float* dst, TileRange range,
                                 std::int64_t counted, std::int64_t blocks, TilePlanes d, float* diff_bias) {
    for (std::int64_t b = 0; b < blocks; ++b, diff_dst += line.out_width * kBlock) {
      float* to = d.data + b * d.block;
      V sum = diff_bias != nullptr ? S::load(diff_bias + b * kBlock) : V{};
      for (std::int64_t tile = range.first; tile < range.first + range.count; ++tile, to += kBlock) {
        const std::int64_t x = kStep * tile;
        const auto given = [&](int i) __attribute__((always_inline)) { return S::load(diff_dst + (x + i) * kBlock); };
        V y[kStep], points[kPoints];
        if (dst == nullptr)
          read(x, line.out_width, y, given);
        else
          read(
              x, line.out_width, y, [&](int i) __attribute__((always_inline)) {
                return S::where_positive(S::load(dst + (x + i) * kBlock), given(i));
              });
        if (tile >= counted) sum = sum + ((y[0] + y[1]) + (y[2] + y[3]));
        L::diff_dst(y, points);
        write_points(points, to, d.plane);
      }
      if (diff_bias != nullptr) S::store(diff_bias + b * kBlock, sum);
      if (dst != nullptr) dst += line.out_width * kBlock;
    }
  }

  // Tiles overlap by three positions. A tile passes its part of the overlap to the next tile in registers, and to the
  // next range through diff_src.
  static void make_diff_src(const Line& line, TilePlanes dv, TileRange range, std::int64_t blocks, float* diff_src) {
    constexpr int kOverlap = kPoints - kStep;
    for (std::int64_t b = 0; b < blocks; ++b, diff_src += line.width * kBlock) {
      const float* from = dv.data + b * dv.block;
      std::int64_t x = kStep * range.first - line.padding;
      const auto inside = [&](std::int64_t i) { return x + i >= 0 && x + i < line.width; };
      V left[kOverlap];
      repeat<kOverlap>([&](auto i) __attribute__((always_inline)) {
        left[i] = range.first > 0 && inside(i) ? S::load(diff_src + (x + i) * kBlock) : V{};
      });
      for (std::int64_t tile = 0; tile < range.count; ++tile, x += kStep, from += kBlock) {
        V points[kPoints], d[kPoints];
        read_points(from, dv.plane, points);
        L::diff_src(points, d);
        repeat<kOverlap>([&](auto i) __attribute__((always_inline)) {
          d[i] = left[i] + d[i];
          left[i] = d[i + kStep];
        });
        if (x >= 0 && x + kStep <= line.width)
          repeat<kStep>([&](auto i) __attribute__((always_inline)) { S::store(diff_src + (x + i) * kBlock, d[i]); });
        else
          repeat<kStep>([&](auto i) __attribute__((always_inline)) {
            if (inside(i)) S::store(diff_src + (x + i) * kBlock, d[i]);
          });
      }
      repeat<kOverlap>([&](auto i) __attribute__((always_inline)) {
        if (inside(i)) S::store(diff_src + (x + i) * kBlock, left[i]);
      });
    }
  }
};

}  // namespace trireme::ops::toom_cook
