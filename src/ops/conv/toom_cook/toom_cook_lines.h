// Lines: the transforms of F(4, 4) on vectors of channels, for the points p, -p, q, -q, r, -r and infinity.
// Thread-safe.
//
// p = 1/4, q = 7/8 and r = 2 had the smallest error on random data of all such triples and of those with the point 0
// (in steps of 1/8 from 1/4 to 2), and pairs of points share their even and odd parts. All factors are exact floats
// except the scales of G, which are separate: G = scale . exact matrix.
//
// Each instruction set's file includes this header after its target pragma; S is that file's vector type (see
// toom_cook_set.h).
#pragma once

#include "ops/conv/toom_cook/toom_cook_passes.h"
#include "ops/vector/block_lines.h"

namespace trireme::ops::toom_cook {

template <class S>
struct Lines : BlockLines<S> {
  using V = typename S::Vector;
  using BlockLines<S>::plus, BlockLines<S>::minus, BlockLines<S>::times;

  static constexpr float p = 0.25f, q = 0.875f, r = 2.0f, pp = p * p, qq = q * q, rr = r * r;

  // B^T d, 7 to 7. Point a has the coefficients of (x + a) (x^2 - bb) (x^2 - cc); b and c are the points of the other
  // pairs.
  [[gnu::always_inline]] static void src(const V (&d)[7], V (&v)[7]) {
    const auto pair = [&](int at, float a, float bb, float cc) __attribute__((always_inline)) {
      const V even = plus(minus(d[4], bb + cc, d[2]), bb * cc, d[0]);
      const V odd = plus(minus(d[5], bb + cc, d[3]), bb * cc, d[1]);
      v[at] = plus(odd, a, even);
      v[at + 1] = minus(odd, a, even);
    };
    pair(0, p, qq, rr);
    pair(2, q, pp, rr);
    pair(4, r, pp, qq);
    v[6] = minus(plus(minus(d[6], pp + qq + rr, d[4]), pp * qq + pp * rr + qq * rr, d[2]), pp * qq * rr, d[0]);
  }

  // B m, the transpose of the above: 7 to 7.
  [[gnu::always_inline]] static void diff_src(const V (&m)[7], V (&x)[7]) {
    const V sum_p = m[0] + m[1], sum_q = m[2] + m[3], sum_r = m[4] + m[5];
    const V odd_p = m[0] - m[1], odd_q = m[2] - m[3], odd_r = m[4] - m[5];
    x[0] = plus(plus(minus(times(p * qq * rr, odd_p), pp * qq * rr, m[6]), q * pp * rr, odd_q), r * pp * qq, odd_r);
    x[1] = plus(plus(times(qq * rr, sum_p), pp * rr, sum_q), pp * qq, sum_r);
    x[2] = minus(minus(minus(times(pp * qq + pp * rr + qq * rr, m[6]), p * (qq + rr), odd_p), q * (pp + rr), odd_q),
                 r * (pp + qq), odd_r);
    x[3] = minus(minus(times(-qq - rr, sum_p), pp + rr, sum_q), pp + qq, sum_r);
    x[4] = plus(plus(minus(times(p, odd_p), pp + qq + rr, m[6]), q, odd_q), r, odd_r);
    x[5] = sum_p + sum_q + sum_r;
    x[6] = m[6];
  }

  // A^T m: 7 to 4. Also G^T without its scales.
  [[gnu::always_inline]] static void dst(const V (&m)[7], V (&y)[4]) {
    const V sum_p = m[0] + m[1], sum_q = m[2] + m[3], sum_r = m[4] + m[5];
    const V odd_p = m[0] - m[1], odd_q = m[2] - m[3], odd_r = m[4] - m[5];
    y[0] = sum_p + sum_q + sum_r;
    y[1] = plus(plus(times(p, odd_p), q, odd_q), r, odd_r);
    y[2] = plus(plus(times(pp, sum_p), qq, sum_q), rr, sum_r);
    y[3] = plus(plus(plus(m[6], p * pp, odd_p), q * qq, odd_q), r * rr, odd_r);
  }

  // A y: 4 to 7. Also G without its scales.
  [[gnu::always_inline]] static void diff_dst(const V (&y)[4], V (&d)[7]) {
    const auto pair = [&](int at, float a, float aa) __attribute__((always_inline)) {
      const V even = plus(y[0], aa, y[2]), odd = plus(y[1], aa, y[3]);
      d[at] = plus(even, a, odd);
      d[at + 1] = minus(even, a, odd);
    };
    pair(0, p, pp);
    pair(2, q, qq);
    pair(4, r, rr);
    d[6] = y[3];
  }

  // The scales of G's rows: 1 over the product of a point's distances from the others.
  static constexpr double scale_of(double a, double bb, double cc) { return 1 / (2 * a * (a * a - bb) * (a * a - cc)); }
  static constexpr double kOfP = scale_of(p, qq, rr), kOfQ = scale_of(q, pp, rr), kOfR = scale_of(r, pp, qq);
  static constexpr float kScales[7] = {static_cast<float>(kOfP),
                                       static_cast<float>(-kOfP),
                                       static_cast<float>(kOfQ),
                                       static_cast<float>(-kOfQ),
                                       static_cast<float>(kOfR),
                                       static_cast<float>(-kOfR),
                                       1.0f};
};

}  // namespace trireme::ops::toom_cook
