// The one-dimensional transforms of F(4, 3) on vectors of channels, for the points 0, 1, -1, 2, -2, infinity.
//
// All factors are powers of two: their products are exact, so that a fused and a separate multiply-add give the same
// bits, and each line costs as many additions as multiply-adds (a CPU that does one of each per cycle is full). The
// factors that are not (of G) are kept apart: G = scale . integer matrix.
//
// Included by the file of one instruction set after its target pragma; S is that file's vector type (see
// winograd_set.h).
#pragma once

#include <utility>

namespace trireme::ops::winograd {

template <int N, class F>
[[gnu::always_inline]] inline void repeat(F&& f) {
  [&]<int... i>(std::integer_sequence<int, i...>) __attribute__((always_inline)) {
    (f(std::integral_constant<int, i>{}), ...);
  }
  (std::make_integer_sequence<int, N>{});
}

template <class S>
struct Lines {
  using V = typename S::Vector;

  // y + f x and y - f x for a power of two f.
  [[gnu::always_inline]] static V plus(V y, float f, V x) { return S::fma(S::splat(f), x, y); }
  [[gnu::always_inline]] static V minus(V y, float f, V x) { return S::fnma(S::splat(f), x, y); }

  // B^T d: 6 to 6, the outer two rows and the inner four by themselves.
  [[gnu::always_inline]] static V src_first(V d0, V d2, V d4) { return plus(d4 - d2, 4, d0 - d2); }
  [[gnu::always_inline]] static V src_last(V d1, V d3, V d5) { return minus(d5 - d3, 4, d3 - d1); }
  [[gnu::always_inline]] static void src_inner(V d1, V d2, V d3, V d4, V (&t)[4]) {
    const V even = minus(d4, 4, d2), odd = minus(d3, 4, d1);
    const V even_low = d4 - d2, odd_low = d3 - d1;
    t[0] = even + odd;
    t[1] = even - odd;
    t[2] = plus(even_low, 2, odd_low);
    t[3] = minus(even_low, 2, odd_low);
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

  // B m, the transpose of the above: 6 to 6. The even results are of m0, m1 + m2 and m3 + m4, the odd ones of m1 - m2,
  // m3 - m4 and m5.
  [[gnu::always_inline]] static void diff_src_even(V m0, V near, V far, V (&x)[3]) {
    const V low = m0 + near;
    x[0] = S::splat(4) * m0;
    x[1] = minus(-(m0 + far), 4, low);
    x[2] = low + far;
  }
  [[gnu::always_inline]] static void diff_src_odd(V near, V far, V m5, V (&x)[3]) {
    const V low = near - m5;
    x[0] = S::splat(-2) * plus(far, 2, low);
    x[1] = plus(minus(low, 4, m5), 2, far);
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

  // A^T m: 6 to 4, of m0, m1 +- m2, m3 +- m4 and m5.
  [[gnu::always_inline]] static V dst_0(V m0, V near, V far) { return m0 + near + far; }
  [[gnu::always_inline]] static V dst_1(V near_odd, V far_odd) { return plus(near_odd, 2, far_odd); }
  [[gnu::always_inline]] static V dst_2(V near, V far) { return plus(near, 4, far); }
  [[gnu::always_inline]] static V dst_3(V near_odd, V far_odd, V m5) { return plus(near_odd, 8, far_odd) + m5; }
  [[gnu::always_inline]] static void dst(const V (&m)[6], V (&y)[4]) {
    const V near = m[1] + m[2], far = m[3] + m[4], near_odd = m[1] - m[2], far_odd = m[3] - m[4];
    y[0] = dst_0(m[0], near, far);
    y[1] = dst_1(near_odd, far_odd);
    y[2] = dst_2(near, far);
    y[3] = dst_3(near_odd, far_odd, m[5]);
  }

  // A y: 4 to 6.
  [[gnu::always_inline]] static void diff_dst(const V (&y)[4], V (&d)[6]) {
    const V even = y[0] + y[2], odd = y[1] + y[3];
    const V even_far = plus(y[0], 4, y[2]), odd_far = plus(y[1], 4, y[3]);
    d[0] = y[0];
    d[1] = even + odd;
    d[2] = even - odd;
    d[3] = plus(even_far, 2, odd_far);
    d[4] = minus(even_far, 2, odd_far);
    d[5] = y[3];
  }

  // G g without its scales: 3 to 6.
  [[gnu::always_inline]] static void filter(const V (&g)[3], V (&u)[6]) {
    const V even = g[0] + g[2], even_far = plus(g[0], 4, g[2]);
    u[0] = g[0];
    u[1] = even + g[1];
    u[2] = even - g[1];
    u[3] = plus(even_far, 2, g[1]);
    u[4] = minus(even_far, 2, g[1]);
    u[5] = g[2];
  }

  // G^T u without its scales: 6 to 3.
  [[gnu::always_inline]] static void diff_filter(const V (&u)[6], V (&g)[3]) {
    const V near = u[1] + u[2], far = u[3] + u[4];
    g[0] = u[0] + near + far;
    g[1] = plus(u[1] - u[2], 2, u[3] - u[4]);
    g[2] = plus(near, 4, far) + u[5];
  }

  // The scale of a point of G.
  static constexpr double kScales[6] = {1.0 / 4, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24, 1};
  [[gnu::always_inline]] static V scale(int row, int column) {
    return S::splat(static_cast<float>(kScales[row] * kScales[column]));
  }
};

}  // namespace trireme::ops::winograd
