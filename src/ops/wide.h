// Wide: sixteen floats as two halves of eight, for the reductions and fused loops of ops.
//
// Lane i holds the same value on every instruction set, as with base::Lanes, but the halves fit AVX2's registers: GCC 12
// takes 64-byte vectors apart into scalars when compiling for AVX2 (measured: 10 times slower). The functions below come
// twice, for Wide and for one float, and round alike, so a loop's tail may go element by element. Denormals aside, every
// function is exactly rounded or exact. Pure functions; any thread.
#pragma once

#include <cstdint>
#include <cstring>

#include "base/simd.h"

namespace trireme::ops {

inline constexpr std::int64_t kWide = base::kLanes;

typedef float HalfWide __attribute__((vector_size(32)));
struct Wide {
  HalfWide low, high;
};

template <class V>
TRIREME_INLINE V load(const float* p) {
  V v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
template <class V>
TRIREME_INLINE void store(float* p, V v) {
  std::memcpy(p, &v, sizeof v);
}

TRIREME_INLINE Wide operator+(Wide a, Wide b) { return {a.low + b.low, a.high + b.high}; }
TRIREME_INLINE Wide operator-(Wide a, Wide b) { return {a.low - b.low, a.high - b.high}; }
TRIREME_INLINE Wide operator*(Wide a, Wide b) { return {a.low * b.low, a.high * b.high}; }

TRIREME_INLINE float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
TRIREME_INLINE HalfWide fma(HalfWide a, HalfWide b, HalfWide c) {
  HalfWide r;
  for (int i = 0; i < 8; ++i) r[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return r;
}
TRIREME_INLINE Wide fma(Wide a, Wide b, Wide c) { return {fma(a.low, b.low, c.low), fma(a.high, b.high, c.high)}; }

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
