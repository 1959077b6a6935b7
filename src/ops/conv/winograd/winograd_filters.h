// Filters: the passes between filters and their 36 points. Included like winograd_lines.h.
#pragma once

#include "ops/conv/winograd/winograd_lines.h"
#include "ops/conv/winograd/winograd_passes.h"

namespace trireme::ops::winograd {

template <class S>
struct Filters {
  using V = typename S::Vector;
  using L = Lines<S>;
  static constexpr std::int64_t kBlock = S::kWidth;

  // The offset of a sum channel in a point of FilterPlanes: its lanes of block `lane` of `lanes`.
  static std::int64_t row(const FilterPlanes& u, std::int64_t lane, std::int64_t lanes, std::int64_t channel) {
    const bool single = lane % 2 == 0 && lane + 1 == lanes;
    return lane / 2 * 2 * kBlock * u.sum_channels + channel * (single ? kBlock : 2 * kBlock) + lane % 2 * kBlock;
  }

  // One block of filters as vectors of lanes: (sum channel, tap) at data + channel * step + tap * tap_step.
  struct Taps {
    const float* data;
    std::int64_t step, tap_step;
  };
  static Taps look(const float* weights, const FilterPlaces& at, std::int64_t out, std::int64_t in, bool adjoint,
                   float* copy) {
    const std::int64_t o = out * kBlock, i = in * kBlock;
    if (at.blocked) {
      const Taps taps{weights + at.out[o] + at.in[i] + at.tap[0], at.in[i + 1] - at.in[i], at.tap[1] - at.tap[0]};
      if (!adjoint) return taps;
      for (int t = 0; t < kTaps; ++t)
        S::transpose(taps.data + t * taps.tap_step, taps.step, copy + t * kBlock * kBlock);
    } else {
      float* to = copy;
      for (int t = 0; t < kTaps; ++t)
        for (std::int64_t channel = 0; channel < kBlock; ++channel)
          for (std::int64_t lane = 0; lane < kBlock; ++lane)
            *to++ = weights[at.out[o + (adjoint ? channel : lane)] + at.in[i + (adjoint ? lane : channel)] + at.tap[t]];
    }
    return {copy, kBlock, kBlock * kBlock};
  }

  static const float* next_block(const float* weights, const FilterPlaces& at, std::int64_t sum, std::int64_t lane,
                                 bool adjoint) {
    return !at.blocked ? nullptr
                       : weights + at.out[(adjoint ? sum : lane) * kBlock] + at.in[(adjoint ? lane : sum) * kBlock];
  }

  static void transform_filters(const float* weights, const FilterPlaces& places, BlockRange out, BlockRange in,
                                bool adjoint, FilterPlanes u) {
    alignas(64) float copy[kTaps * kBlock * kBlock];
    const BlockRange lanes = adjoint ? in : out, sums = adjoint ? out : in;
    for (std::int64_t lane = 0; lane < lanes.count; ++lane)
      for (std::int64_t sum = 0; sum < sums.count; ++sum) {
        const Taps taps = look(weights, places, adjoint ? sums.first + sum : lanes.first + lane,
                               adjoint ? lanes.first + lane : sums.first + sum, adjoint, copy);
        const float* next = sum + 1 < sums.count
                                ? next_block(weights, places, sums.first + sum + 1, lanes.first + lane, adjoint)
                                : nullptr;
        for (std::int64_t channel = 0; channel < kBlock; ++channel) {
          if (next != nullptr)
            repeat<kTaps>([&](auto t) __attribute__((always_inline)) {
              __builtin_prefetch(next + (channel * kTaps + t) * kBlock);
            });
          transform(taps.data + channel * taps.step, taps.tap_step,
                    u.data + row(u, lane, lanes.count, sum * kBlock + channel), u.plane);
        }
      }
  }

  [[gnu::always_inline]] static void transform(const float* g, std::int64_t tap_step, float* to, std::int64_t plane) {
    V t[6][3];
    repeat<3>([&](auto j) __attribute__((always_inline)) {
      const V column[3] = {S::load(g + j * tap_step), S::load(g + (j + 3) * tap_step), S::load(g + (j + 6) * tap_step)};
      V line[6];
      L::filter(column, line);
      repeat<6>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
    });
    repeat<6>([&](auto i) __attribute__((always_inline)) {
      V line[6];
      L::filter(t[i], line);
      repeat<6>([&](auto j) __attribute__((always_inline)) {
        S::store(to, L::scale(i, j) * line[j]);
        to += plane;
      });
    });
  }

  static void make_diff_weights(FilterPlanes du, const FilterPlaces& places, BlockRange out, BlockRange in,
                                float* diff_weights) {
    alignas(64) float copy[kTaps * kBlock];
    for (std::int64_t lane = 0; lane < out.count; ++lane)
      for (std::int64_t channel = 0; channel < in.count * kBlock; ++channel) {
        const std::int64_t* o = places.out + (out.first + lane) * kBlock;
        const std::int64_t i = places.in[in.first * kBlock + channel];
        V g[9];
        gather(du.data + row(du, lane, out.count, channel), du.plane, g);
        if (places.blocked) {
          repeat<9>([&](auto t)
                        __attribute__((always_inline)) { S::store(diff_weights + o[0] + i + places.tap[t], g[t]); });
          continue;
        }
        repeat<9>([&](auto t) __attribute__((always_inline)) { S::store(copy + t * kBlock, g[t]); });
        for (int t = 0; t < kTaps; ++t)
          for (std::int64_t l = 0; l < kBlock; ++l) diff_weights[o[l] + i + places.tap[t]] = copy[t * kBlock + l];
      }
  }

  [[gnu::always_inline]] static void gather(const float* from, std::int64_t plane, V (&g)[9]) {
    V t[3][6];
    repeat<6>([&](auto j) __attribute__((always_inline)) {
      V u[6], line[3];
      repeat<6>([&](auto i)
                    __attribute__((always_inline)) { u[i] = L::scale(i, j) * S::load(from + (i * 6 + j) * plane); });
      L::diff_filter(u, line);
      repeat<3>([&](auto i) __attribute__((always_inline)) { t[i][j] = line[i]; });
    });
    repeat<3>([&](auto i) __attribute__((always_inline)) {
      V line[3];
      L::diff_filter(t[i], line);
      repeat<3>([&](auto j) __attribute__((always_inline)) { g[i * 3 + j] = line[j]; });
    });
  }
};

}  // namespace trireme::ops::winograd
