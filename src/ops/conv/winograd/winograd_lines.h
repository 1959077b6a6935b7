// Lines: the one-dimensional transforms of F(4, 3) on vectors of channels, for the points 0, p, -p, q, -q and infinity.
// Thread-safe.
//
// p = 3/4 and q = 3/2: their product is near 1, which keeps the powers in B and A near 1. Measured on random data, the
// error is half of that of the usual points 1 and 2 (the largest error a third), for two more operations per line. All
// factors are exact floats except the scales of G, which are separate: G = scale . exact matrix.
//
// Each instruction set's file includes this header after its target pragma; S is that file's vector type (see
// winograd_set.h).
#pragma once

#include "ops/vector/block_lines.h"

namespace trireme::ops::winograd {

template <class S>
struct Lines : BlockLines<S> {
  using V = typename S::Vector;
  using BlockLines<S>::plus, BlockLines<S>::minus, BlockLines<S>::times;

  static constexpr float p = 0.75f, q = 1.5f, pp = p * p, qq = q * q;

  // B^T d: 6 to 6; the outer two results and the inner four are separate functions.
  [[gnu::always_inline]] static V src_first(V d0, V d2, V d4) { return plus(minus(d4, pp + qq, d2), pp * qq, d0); }
  [[gnu::always_inline]] static V src_last(V d1, V d3, V d5) { return plus(minus(d5, pp + qq, d3), pp * qq, d1); }
  [[gnu::always_inline]] static void src_inner(V d1, V d2, V d3, V d4, V (&t)[4]) {
    const V even_p = minus(d4, qq, d2), odd_p = minus(times(p, d3), p * qq, d1);
    const V even_q = minus(d4, pp, d2), odd_q = minus(times(q, d3), q * pp, d1);
    t[0] = even_p + odd_p;
    t[1] = even_p - odd_p;
    t[2] = even_q + odd_q;
    t[3] = even_q - odd_q;
  }
  [[gnu::always_inline]] static void src(const V (&d)[6], V (&t)[6]) {
    V inner[4];
    t[0] = src_first(d[0], d[2], d[4]);
    src_inner(d[1], d[2], d[3], d[4], inner);
    t[1] = inner[0];
    t[2] = inner[1];
    t[3] = inner[2];
    t[4] = inner[3];
    t[5] = src_last(d[1], d[3], d[5]);
  }

  // B m, the transpose of the above: 6 to 6. Even results depend on m0, m1 + m2 and m3 + m4; odd results depend on
  // m1 - m2, m3 - m4 and m5.
  [[gnu::always_inline]] static void diff_src_even(V m0, V sum_p, V sum_q, V (&x)[3]) {
    x[0] = times(pp * qq, m0);
    x[1] = minus(minus(times(-pp - qq, m0), qq, sum_p), pp, sum_q);
    x[2] = m0 + sum_p + sum_q;
  }
  [[gnu::always_inline]] static void diff_src_odd(V odd_p, V odd_q, V m5, V (&x)[3]) {
    x[0] = minus(minus(times(pp * qq, m5), p * qq, odd_p), q * pp, odd_q);
    x[1] = plus(plus(times(-pp - qq, m5), p, odd_p), q, odd_q);
    x[2] = m5;
  }
  [[gnu::always_inline]] static void diff_src(const V (&m)[6], V (&x)[6]) {
    V even[3], odd[3];
    diff_src_even(m[0], m[1] + m[2], m[3] + m[4], even);
    diff_src_odd(m[1] - m[2], m[3] - m[4], m[5], odd);
    repeat<3>([&](auto i) __attribute__((always_inline)) {
      x[2 * i] = even[i];
      x[2 * i + 1] = odd[i];
    });
  }

  // A^T m: 6 to 4, from m0, m1 +- m2, m3 +- m4 and m5.
  [[gnu::always_inline]] static V dst_0(V m0, V sum_p, V sum_q) { return m0 + sum_p + sum_q; }
  [[gnu::always_inline]] static V dst_1(V odd_p, V odd_q) { return plus(times(p, odd_p), q, odd_q); }
  [[gnu::always_inline]] static V dst_2(V sum_p, V sum_q) { return plus(times(pp, sum_p), qq, sum_q); }
  [[gnu::always_inline]] static V dst_3(V odd_p, V odd_q, V m5) { return plus(plus(m5, p * pp, odd_p), q * qq, odd_q); }
  [[gnu::always_inline]] static void dst(const V (&m)[6], V (&y)[4]) {
    const V sum_p = m[1] + m[2], sum_q = m[3] + m[4], odd_p = m[1] - m[2], odd_q = m[3] - m[4];
    y[0] = dst_0(m[0], sum_p, sum_q);
    y[1] = dst_1(odd_p, odd_q);
    y[2] = dst_2(sum_p, sum_q);
    y[3] = dst_3(odd_p, odd_q, m[5]);
  }

  // A y: 4 to 6.
  [[gnu::always_inline]] static void diff_dst(const V (&y)[4], V (&d)[6]) {
    const V even_p = plus(y[0], pp, y[2]), odd_p = plus(times(p, y[1]), p * pp, y[3]);
    const V even_q = plus(y[0], qq, y[2]), odd_q = plus(times(q, y[1]), q * qq, y[3]);
    d[0] = y[0];
    d[1] = even_p + odd_p;
    d[2] = even_p - odd_p;
    d[3] = even_q + odd_q;
    d[4] = even_q - odd_q;
    d[5] = y[3];
  }

  // G g without its scales: 3 to 6.
  [[gnu::always_inline]] static void filter(const V (&g)[3], V (&u)[6]) {
    const V even_p = plus(g[0], pp, g[2]), even_q = plus(g[0], qq, g[2]);
    u[0] = g[0];
    u[1] = plus(even_p, p, g[1]);
    u[2] = minus(even_p, p, g[1]);
    u[3] = plus(even_q, q, g[1]);
    u[4] = minus(even_q, q, g[1]);
    u[5] = g[2];
  }

  // G^T u without its scales: 6 to 3.
  [[gnu::always_inline]] static void diff_filter(const V (&u)[6], V (&g)[3]) {
    const V sum_p = u[1] + u[2], sum_q = u[3] + u[4];
    g[0] = u[0] + sum_p + sum_q;
    g[1] = plus(times(p, u[1] - u[2]), q, u[3] - u[4]);
    g[2] = plus(plus(u[5], pp, sum_p), qq, sum_q);
  }

  // The scales of G's rows: 1 over the product of a point's distances from the others.
  static constexpr double kOfP = 1 / (2 * double{pp} * (double{pp} - double{qq}));
  static constexpr double kOfQ = 1 / (2 * double{qq} * (double{qq} - double{pp}));
  static constexpr double kScales[6] = {1 / (double{pp} * double{qq}), kOfP, kOfP, kOfQ, kOfQ, 1};
  [[gnu::always_inline]] static V scale(int row, int column) {
    return S::splat(static_cast<float>(kScales[row] * kScales[column]));
  }
};

}  // namespace trireme::ops::winograd
