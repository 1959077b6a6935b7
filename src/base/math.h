// Own exp, log and tanh, over lanes and for one float: libm picks variants by CPU, these give the same bits everywhere.
// Errors stay within 3 units in the last place (tests/base/math_test.cpp measures them over the whole range).
#pragma once

#include "base/simd.h"

namespace trireme::base {

// e^x; 0 below about -87.3, infinity above about 88.7, NaN stays NaN.
TRIREME_INLINE Lanes exp(Lanes x) {
  // x = n ln2 + r, |r| <= ln2 / 2; e^r by a polynomial; 2^n through the exponent bits, in two halves.
  const Lanes magic = splat(12582912.0f);  // 1.5 * 2^23: adding it rounds to an integer
  const Lanes bounded = max(min(x, splat(89.0f)), splat(-88.0f));
  const Lanes n = fma(bounded, splat(1.44269504088896341f), magic) - magic;
  Lanes r = fma(n, splat(-0.693145751953125f), bounded);
  r = fma(n, splat(-1.42860682030941723e-6f), r);
  Lanes p = splat(1.98412698412698413e-4f);
  p = fma(p, r, splat(1.38888888888888889e-3f));
  p = fma(p, r, splat(8.33333333333333333e-3f));
  p = fma(p, r, splat(4.16666666666666667e-2f));
  p = fma(p, r, splat(1.66666666666666667e-1f));
  p = fma(p, r, splat(0.5f));
  p = fma(p, r, splat(1.0f));
  p = fma(p, r, splat(1.0f));
  LanesInt whole;
  for (int i = 0; i < kLanes; ++i) whole[i] = static_cast<std::int32_t>(n[i]);
  const LanesInt first = whole / 2;
  const LanesInt second = whole - first;
  Lanes scale_first, scale_second;
  const LanesInt bits_first = (first + 127) << 23, bits_second = (second + 127) << 23;
  std::memcpy(&scale_first, &bits_first, sizeof scale_first);
  std::memcpy(&scale_second, &bits_second, sizeof scale_second);
  Lanes y = p * scale_first * scale_second;
  y = x > splat(88.72283935546875f) ? splat(__builtin_inff()) : y;
  y = x < splat(-87.33654022216796875f) ? Lanes{} : y;
  return x != x ? x : y;
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
  return (x < Lanes{}) | (x != x) ? splat(__builtin_nanf("")) : y;
}

TRIREME_INLINE Lanes abs(Lanes x) {
  LanesInt bits;
  std::memcpy(&bits, &x, sizeof bits);
  bits &= 0x7fffffff;
  std::memcpy(&x, &bits, sizeof bits);
  return x;
}

// Hyperbolic tangent: an odd polynomial near 0, else 1 - 2 / (e^(2|x|) + 1) with the sign of x.
TRIREME_INLINE Lanes tanh(Lanes x) {
  const Lanes a = abs(x);
  const Lanes big = splat(1.0f) - splat(2.0f) / (exp(a + a) + splat(1.0f));
  const Lanes z = x * x;
  Lanes p = splat(-5.70498872745e-3f);
  p = fma(p, z, splat(2.06390887954e-2f));
  p = fma(p, z, splat(-5.37397155531e-2f));
  p = fma(p, z, splat(1.33314422036e-1f));
  p = fma(p, z, splat(-3.33332819422e-1f));
  const Lanes small = fma(p * z, x, x);
  const Lanes signed_big = x < Lanes{} ? -big : big;
  return a < splat(0.625f) ? small : signed_big;
}

// 1 / (1 + e^-x), without overflow on either side.
TRIREME_INLINE Lanes sigmoid(Lanes x) {
  const Lanes e = exp(-abs(x));
  const Lanes low = e / (splat(1.0f) + e);
  const Lanes high = splat(1.0f) / (splat(1.0f) + e);
  return x < Lanes{} ? low : high;
}

float exp1(float x);
float log1(float x);
float tanh1(float x);
float cos_turns(float turns);  // cos(2 pi turns), turns in [0, 1)

}  // namespace trireme::base
