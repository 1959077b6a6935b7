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

  // f x + y for a power of two f.
  [[gnu::always_inline]] static V scaled(float f, V x, V y) { return S::fma(S::splat(f), x, y); }

  // B^T d: 6 to 6.
  [[gnu::always_inline]] static void src(const V (&d)[6], V (&t)[6]) {
    const V even = scaled(-4, d[2], d[4]), odd = scaled(-4, d[1], d[3]);
    const V even_low = d[4] - d[2], odd_low = d[3] - d[1];
    t[0] = scaled(4, d[0] - d[2], even_low);
    t[1] = even + odd;
    t[2] = even - odd;
    t[3] = scaled(2, odd_low, even_low);
    t[4] = scaled(-2, odd_low, even_low);
    t[5] = scaled(-4, odd_low, d[5] - d[3]);
  }

  // B m, the transpose of the above: 6 to 6.
  [[gnu::always_inline]] static void diff_src(const V (&m)[6], V (&x)[6]) {
    const V near = m[1] + m[2], far = m[3] + m[4], near_odd = m[1] - m[2], far_odd = m[3] - m[4];
    const V low = m[0] + near, odd = near_odd - m[5];
    x[0] = S::splat(4) * m[0];
    x[1] = S::splat(-2) * scaled(2, odd, far_odd);
    x[2] = scaled(-4, low, -(m[0] + far));
    x[3] = scaled(2, far_odd, scaled(-4, m[5], odd));
    x[4] = low + far;
    x[5] = m[5];
  }

  // A^T m: 6 to 4.
  [[gnu::always_inline]] static void dst(const V (&m)[6], V (&y)[4]) {
    const V near = m[1] + m[2], far = m[3] + m[4], near_odd = m[1] - m[2], far_odd = m[3] - m[4];
    y[0] = m[0] + near + far;
    y[1] = scaled(2, far_odd, near_odd);
    y[2] = scaled(4, far, near);
    y[3] = scaled(8, far_odd, near_odd) + m[5];
  }

  // A y: 4 to 6.
  [[gnu::always_inline]] static void diff_dst(const V (&y)[4], V (&d)[6]) {
    const V even = y[0] + y[2], odd = y[1] + y[3];
    const V even_far = scaled(4, y[2], y[0]), odd_far = scaled(4, y[3], y[1]);
    d[0] = y[0];
    d[1] = even + odd;
    d[2] = even - odd;
    d[3] = scaled(2, odd_far, even_far);
    d[4] = scaled(-2, odd_far, even_far);
    d[5] = y[3];
  }

  // G g without its scales: 3 to 6.
  [[gnu::always_inline]] static void filter(const V (&g)[3], V (&u)[6]) {
    const V even = g[0] + g[2], even_far = scaled(4, g[2], g[0]);
    u[0] = g[0];
    u[1] = even + g[1];
    u[2] = even - g[1];
    u[3] = scaled(2, g[1], even_far);
    u[4] = scaled(-2, g[1], even_far);
    u[5] = g[2];
  }

  // G^T u without its scales: 6 to 3.
  [[gnu::always_inline]] static void diff_filter(const V (&u)[6], V (&g)[3]) {
    const V near = u[1] + u[2], far = u[3] + u[4];
    g[0] = u[0] + near + far;
    g[1] = scaled(2, u[3] - u[4], u[1] - u[2]);
    g[2] = scaled(4, far, near) + u[5];
  }

  // The scale of a point of G.
  static constexpr double kScales[6] = {1.0 / 4, -1.0 / 6, -1.0 / 6, 1.0 / 24, 1.0 / 24, 1};
  [[gnu::always_inline]] static V scale(int row, int column) {
    return S::splat(static_cast<float>(kScales[row] * kScales[column]));
  }
};

}  // namespace trireme::ops::winograd
