// Wide: sixteen floats as two halves of eight, for the reductions and fused loops of ops.
//
// Lane i holds the same value on every instruction set, as with base::Lanes, but the halves fit AVX2's registers: GCC
// 12 splits 64-byte vectors when compiling for AVX2. There is no fma: GCC splits an element-wise fma into scalars
// whenever an operand leaves its loop (measured: batch norm at half speed), and a separate product and sum cost nothing
// where memory bandwidth is the limit. Every function exists for Wide and for one float with the same rounding, so a
// loop's tail may go element by element. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/cpu/simd.h"

namespace trireme::ops {

inline constexpr std::int64_t kWide = base::kLanes;

typedef float HalfWide __attribute__((vector_size(32)));
struct Wide {
  HalfWide low, high;
};

// V is Wide or float. The halves are copied one by one: GCC splits a 64-byte copy and reads it back from the stack.
template <class V>
TRIREME_INLINE V load(const float* p) {
  if constexpr (sizeof(V) == sizeof(float)) {
    return *p;
  } else {
    V v;
    std::memcpy(&v.low, p, sizeof v.low);
    std::memcpy(&v.high, p + kWide / 2, sizeof v.high);
    return v;
  }
}
TRIREME_INLINE void store(float* p, float v) { *p = v; }
TRIREME_INLINE void store(float* p, Wide v) {
  std::memcpy(p, &v.low, sizeof v.low);
  std::memcpy(p + kWide / 2, &v.high, sizeof v.high);
}

TRIREME_INLINE Wide operator+(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
TRIREME_INLINE Wide operator-(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
TRIREME_INLINE Wide operator*(Wide a, Wide b) { return {a.low * b.low, a.high * b.high}; }

// max(x, 0); NaN stays NaN.
TRIREME_INLINE float positive_part(float x) { return x <= 0 ? 0.0f : x; }
TRIREME_INLINE Wide positive_part(Wide x) {
  constexpr HalfWide zero{};
  return {x.low <= zero ? zero : x.low, x.high <= zero ? zero : x.high};
}
// x where `sign` is above 0, else 0.
TRIREME_INLINE float where_positive(float sign, float x) { return sign > 0 ? x : 0.0f; }
TRIREME_INLINE Wide where_positive(Wide sign, Wide x) {
  constexpr HalfWide zero{};
  return {sign.low > zero ? x.low : zero, sign.high > zero ? x.high : zero};
}

// sums[i] += v[i] for the sixteen lanes.
TRIREME_INLINE void add_to(double* sums, Wide v) {
  float lanes[kWide];
  store(lanes, v);
  for (int i = 0; i < kWide; ++i) sums[i] += static_cast<double>(lanes[i]);
}

}  // namespace trireme::ops
