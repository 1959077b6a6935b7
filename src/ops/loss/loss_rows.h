// The loops of the losses for base::dispatch, each over one sample's row of K predictions. Thread-safe.
// Sums use sixteen lanes, combined in the order of base/cpu/simd.h.
#pragma once

#include <cstdint>

#include "base/cpu/math.h"
#include "base/cpu/simd.h"

namespace trireme::ops {

// Loads fewer than sixteen values; the other lanes hold `fill`.
TRIREME_INLINE base::Lanes load_filled(const float* p, std::int64_t count, float fill) {
  float lanes[base::kLanes];
  for (int i = 0; i < base::kLanes; ++i) lanes[i] = i < count ? p[i] : fill;
  return base::load(lanes);
}

// Calls f(lanes, position, count) along a row; the last call may have fewer than sixteen values.
template <class F>
TRIREME_INLINE void for_row(const float* row, std::int64_t count, float fill, const F& f) {
  std::int64_t i = 0;
  for (; count - i >= base::kLanes; i += base::kLanes) f(base::load(row + i), i, base::kLanes);
  if (i < count) f(load_filled(row + i, count - i, fill), i, static_cast<int>(count - i));
}

// The largest value, and the sum of e^(x - largest).
struct SoftmaxSum {
  TRIREME_INLINE static void run(const float* x, std::int64_t count, float* largest, float* sum) {
    const float lowest = -__builtin_inff();
    base::Lanes most = base::splat(lowest);
    for_row(
        x, count,
        lowest, [&](base::Lanes v, std::int64_t, int) __attribute__((always_inline)) { most = base::max(most, v); });
    float lanes[base::kLanes];
    base::store(lanes, most);
    *largest = lanes[0];
    for (int i = 1; i < base::kLanes; ++i) *largest = lanes[i] > *largest ? lanes[i] : *largest;
    base::Lanes total{};
    const base::Lanes shift = base::splat(*largest);
    for_row(
        x, count, lowest, [&](base::Lanes v, std::int64_t, int) __attribute__((always_inline)) {
          total += base::exp(v - shift);
        });
    *sum = base::sum(total);
  }
};

// diff = factor * e^(x - largest).
struct SoftmaxGradient {
  TRIREME_INLINE static void run(const float* x, std::int64_t count, float largest, float factor, float* diff) {
    const base::Lanes shift = base::splat(largest), scale = base::splat(factor);
    for_row(
        x, count, 0, [&](base::Lanes v, std::int64_t i, int values) __attribute__((always_inline)) {
          base::store_part(diff + i, base::exp(v - shift) * scale, values);
        });
  }
};

// Sum of max(x, 0) - x t + log(1 + e^-|x|): the binary cross-entropy of sigmoid(x), without overflow.
struct SigmoidSum {
  TRIREME_INLINE static void run(const float* x, const float* t, std::int64_t count, float* sum) {
    base::Lanes total{};
    // Missing values are filled with -1000 and target 0, which add exactly 0.
    for_row(
        x, count, -1000.0f, [&](base::Lanes v, std::int64_t i, int values) __attribute__((always_inline)) {
          const base::Lanes target = load_filled(t + i, values, 0);
          const base::Lanes tail = base::log(base::splat(1.0f) + base::exp(-base::abs(v)));
          total += (base::max(v, base::Lanes{}) - v * target) + tail;
        });
    *sum = base::sum(total);
  }
};

// diff = factor * (sigmoid(x) - t).
struct SigmoidGradient {
  TRIREME_INLINE static void run(const float* x, const float* t, std::int64_t count, float factor, float* diff) {
    for_row(
        x, count, 0, [&](base::Lanes v, std::int64_t i, int values) __attribute__((always_inline)) {
          const base::Lanes target = load_filled(t + i, values, 0);
          base::store_part(diff + i, (base::sigmoid(v) - target) * base::splat(factor), values);
        });
  }
};

struct SquaredSum {
  TRIREME_INLINE static void run(const float* x, const float* t, std::int64_t count, float* sum) {
    base::Lanes total{};
    for_row(
        x, count, 0, [&](base::Lanes v, std::int64_t i, int values) __attribute__((always_inline)) {
          const base::Lanes distance = v - load_filled(t + i, values, 0);
          total += distance * distance;
        });
    *sum = base::sum(total);
  }
};

// diff = factor * (x - t).
struct SquaredGradient {
  TRIREME_INLINE static void run(const float* x, const float* t, std::int64_t count, float factor, float* diff) {
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) diff[i] = (x[i] - t[i]) * factor;
  }
};

}  // namespace trireme::ops
