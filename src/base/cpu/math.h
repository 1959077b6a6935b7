// Own exp, log, tanh and sigmoid: libm picks variants by CPU, these give the same bits everywhere. Errors stay within 3
// units in the last place (tests/base/math_test.cpp measures them over the whole range).
//
// Functions of one float are made for loops: they choose between values by bits, since GCC 12 makes branches, not
// vectors, of written choices when it compiles for AVX2. The forms over lanes give the same bits.
#pragma once

#include <algorithm>
#include <bit>

#include "base/cpu/simd.h"

namespace trireme::base {

namespace math_detail {
constexpr float kMagic = 12582912.0f;  // 1.5 * 2^23: adding it rounds to an integer, which the low bits then hold
// 2^n for -126 <= n <= 127.
TRIREME_INLINE float power(std::int32_t n) { return std::bit_cast<float>((n + 127) << 23); }
// All bits where the magnitude with bits `size` is above `limit`, else none.
TRIREME_INLINE std::int32_t all_if_above(std::int32_t size, float limit) {
  return (std::bit_cast<std::int32_t>(limit) - size) >> 31;
}
TRIREME_INLINE std::int32_t all_if_nan(std::int32_t size) { return all_if_above(size, __builtin_inff()); }
}  // namespace math_detail

// e^x; 0 below about -87.3, infinity above about 88.7, NaN stays NaN.
TRIREME_INLINE float exp(float x) {
  // x = n ln2 + r, |r| <= ln2 / 2; e^r by a polynomial; 2^n through the exponent bits, in two halves.
  const std::int32_t bits = std::bit_cast<std::int32_t>(x), size = bits & 0x7fffffff;
  const float bounded = std::bit_cast<float>(std::min(size, std::bit_cast<std::int32_t>(89.0f)) | (bits - size));
  const float shifted = __builtin_fmaf(bounded, 1.44269504088896341f, math_detail::kMagic);
  const float n = shifted - math_detail::kMagic;
  float r = __builtin_fmaf(n, -0.693145751953125f, bounded);
  r = __builtin_fmaf(n, -1.42860682030941723e-6f, r);
  float p = 1.98412698412698413e-4f;
  p = __builtin_fmaf(p, r, 1.38888888888888889e-3f);
  p = __builtin_fmaf(p, r, 8.33333333333333333e-3f);
  p = __builtin_fmaf(p, r, 4.16666666666666667e-2f);
  p = __builtin_fmaf(p, r, 1.66666666666666667e-1f);
  p = __builtin_fmaf(p, r, 0.5f);
  p = __builtin_fmaf(p, r, 1.0f);
  p = __builtin_fmaf(p, r, 1.0f);
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(math_detail::kMagic);
  const std::int32_t half = whole >> 1;
  std::int32_t y = std::bit_cast<std::int32_t>(p * math_detail::power(half) * math_detail::power(whole - half));
  const std::int32_t negative = bits >> 31;
  const std::int32_t too_large = math_detail::all_if_above(size, 88.72283935546875f) & ~negative;
  const std::int32_t too_small = math_detail::all_if_above(size, 87.33654022216796875f) & negative;
  y = ((y & ~too_large) | (0x7f800000 & too_large)) & ~too_small;
  return std::bit_cast<float>(y | math_detail::all_if_nan(size));
}
TRIREME_INLINE Lanes exp(Lanes x) {
  Lanes y;
  for (int i = 0; i < kLanes; ++i) y[i] = exp(x[i]);
  return y;
}

// Natural logarithm of a positive normal number; -infinity at 0, NaN below.
TRIREME_INLINE Lanes log(Lanes x) {
  // x = m 2^e with sqrt(1/2) <= m < sqrt(2); log m = 2 artanh(s), s = (m-1)/(m+1).
  LanesUnsigned bits;  // unsigned, since the bits of a negative number would overflow below
  std::memcpy(&bits, &x, sizeof bits);
  const LanesUnsigned shifted = bits - 0x3f3504f3u;  // bits of sqrt(1/2)
  LanesInt exponent;
  std::memcpy(&exponent, &shifted, sizeof exponent);
  exponent = exponent >> 23;
  LanesUnsigned whole;
  std::memcpy(&whole, &exponent, sizeof whole);
  const LanesUnsigned mantissa_bits = bits - (whole << 23);
  Lanes m, e;
  std::memcpy(&m, &mantissa_bits, sizeof m);
  for (int i = 0; i < kLanes; ++i) e[i] = static_cast<float>(exponent[i]);
  const Lanes f = m - splat(1.0f);
  const Lanes s = f / (m + splat(1.0f));
  const Lanes z = s * s;
  Lanes p = splat(2.0f / 9.0f);
  p = fma(p, z, splat(2.0f / 7.0f));
  p = fma(p, z, splat(2.0f / 5.0f));
  p = fma(p, z, splat(2.0f / 3.0f));
  // log m = f - s*(f - p*z): exact to leading order since 2s = f - s*f.
  Lanes y = fma(e, splat(9.0580006145e-6f), -s * (f - p * z)) + f;
  y = fma(e, splat(0.693138122558593750f), y);
  y = x == Lanes{} ? splat(-__builtin_inff()) : y;
  y = x > splat(3.4028235e38f) ? x : y;
  return ((x < Lanes{}) | (x != x)) ? splat(__builtin_nanf("")) : y;
}

TRIREME_INLINE Lanes abs(Lanes x) {
  LanesInt bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0x7fffffff;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

// Hyperbolic tangent: t / (t + 2) with t = e^(2|x|) - 1, and the sign of x.
TRIREME_INLINE float tanh(float x) {
  // 2|x| = n ln2 + r as in exp(); t = 2^n (e^r - 1) + (2^n - 1) keeps all digits near 0. From 9.02 on it is 1.
  const std::int32_t bits = std::bit_cast<std::int32_t>(x), size = bits & 0x7fffffff;
  const float bounded = std::bit_cast<float>(std::min(size, std::bit_cast<std::int32_t>(9.02f)));
  const float shifted = __builtin_fmaf(bounded, 2 * 1.44269504088896341f, math_detail::kMagic);
  const float n = shifted - math_detail::kMagic;
  float r = __builtin_fmaf(n, -0.693145751953125f, bounded + bounded);
  r = __builtin_fmaf(n, -1.42860682030941723e-6f, r);
  float p = 1.3882488154e-3f;  // a minimax polynomial of (e^r - 1 - r) / r^2
  p = __builtin_fmaf(p, r, 8.3665467185e-3f);
  p = __builtin_fmaf(p, r, 4.1667201031e-2f);
  p = __builtin_fmaf(p, r, 1.6666543430e-1f);
  p = __builtin_fmaf(p, r, 4.9999998149e-1f);
  const float less_one = __builtin_fmaf(p * r, r, r);
  const std::int32_t whole = std::bit_cast<std::int32_t>(shifted) - std::bit_cast<std::int32_t>(math_detail::kMagic);
  const float scale = math_detail::power(whole);
  const float t = __builtin_fmaf(less_one, scale, scale - 1.0f);
  const std::int32_t y = std::bit_cast<std::int32_t>(t / (t + 2.0f));
  return std::bit_cast<float>(y | (bits - size) | math_detail::all_if_nan(size));
}
TRIREME_INLINE Lanes tanh(Lanes x) {
  Lanes y;
  for (int i = 0; i < kLanes; ++i) y[i] = tanh(x[i]);
  return y;
}

// 1 / (1 + e^-x), without overflow on either side.
TRIREME_INLINE float sigmoid(float x) {
  const std::int32_t bits = std::bit_cast<std::int32_t>(x);
  const float e = exp(std::bit_cast<float>(bits | static_cast<std::int32_t>(0x80000000u)));
  const std::int32_t negative = bits >> 31, one = std::bit_cast<std::int32_t>(1.0f);
  return std::bit_cast<float>((std::bit_cast<std::int32_t>(e) & negative) | (one & ~negative)) / (1.0f + e);
}
TRIREME_INLINE Lanes sigmoid(Lanes x) {
  Lanes y;
  for (int i = 0; i < kLanes; ++i) y[i] = sigmoid(x[i]);
  return y;
}

float log1(float x);
float cos_turns(float turns);  // cos(2 pi turns), turns in [0, 1)

}  // namespace trireme::base
