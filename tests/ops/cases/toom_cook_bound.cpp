// The rounding of the Toom-Cook convolution F(4, 4), to first order: as that of Winograd's (winograd_bound.cpp), at
// most K u / (1 - K u) times the same expression with all matrices (ops/conv/toom_cook/toom_cook_passes.h) and values
// absolute. The longest chains of roundings:
//   V 3        D 2        U 4 (two, a rounded scale and its product)
//   dst       4 + 3 + S C + 4 + 1    the sum over S segments of C channels, a line of depth 4, the bias
//   diff_src  4 + 2 + S K + 5 + 1    the sum over S segments of K channels, a line of depth 5, one tile that overlaps
//   diff_weights  3 + 2 + T + 2 + 4  the sum of T tiles, scale and product, a line of depth 4
//   diff_bias 2 + T                  sums of four, one after the other
#include <array>
#include <cmath>

#include "ops/cases/bounds.h"

namespace trireme::optest {
namespace {

template <std::size_t N>
using Values = std::array<double, N>;
template <std::size_t Rows, std::size_t Columns>
using Matrix = std::array<Values<Columns>, Rows>;

// Absolute values, for the points +-p, +-q, +-r and infinity.
constexpr double p = 0.25, q = 0.875, r = 2, pp = p * p, qq = q * q, rr = r * r;

constexpr Values<7> b_row(double a, double bb, double cc) {
  return {a * bb * cc, bb * cc, a * (bb + cc), bb + cc, a, 1, 0};
}
constexpr Values<4> a_row(double a) { return {1, a, a * a, a * a * a}; }
constexpr Values<4> g_row(double a, double bb, double cc) {
  const double product = 2 * a * (a * a - bb) * (a * a - cc), scale = 1 / (product < 0 ? -product : product);
  return {scale, scale * a, scale * a * a, scale * a * a * a};
}
constexpr Matrix<7, 7> kB{b_row(p, qq, rr),
                          b_row(p, qq, rr),
                          b_row(q, pp, rr),
                          b_row(q, pp, rr),
                          b_row(r, pp, qq),
                          b_row(r, pp, qq),
                          {pp * qq * rr, 0, pp* qq + pp* rr + qq* rr, 0, pp + qq + rr, 0, 1}};  // B^T
constexpr Matrix<7, 4> kA{a_row(p), a_row(p), a_row(q), a_row(q), a_row(r), a_row(r), {0, 0, 0, 1}};
constexpr Matrix<7, 4> kG{g_row(p, qq, rr), g_row(p, qq, rr), g_row(q, pp, rr), g_row(q, pp, rr),
                          g_row(r, pp, qq), g_row(r, pp, qq), {0, 0, 0, 1}};

template <std::size_t Rows, std::size_t Columns>
Values<Rows> times(const Matrix<Rows, Columns>& m, const Values<Columns>& x) {
  Values<Rows> y{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j) y[i] += m[i][j] * x[j];
  return y;
}
template <std::size_t Rows, std::size_t Columns>
Values<Columns> transposed_times(const Matrix<Rows, Columns>& m, const Values<Rows>& x) {
  Values<Columns> y{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j) y[j] += m[i][j] * x[i];
  return y;
}

using Points = Values<7>;
void add_product(Points& sum, const Points& a, const Points& b) {
  for (std::size_t i = 0; i < 7; ++i) sum[i] += a[i] * b[i];
}

// Rows of a tensor A x B x W; what lies outside a row is zero and cannot be written.
struct Rows {
  std::vector<double>& all;
  std::int64_t count, width;  // B and W

  double* at(std::int64_t a, std::int64_t b, std::int64_t x) const {
    return x < 0 || x >= width ? nullptr : &all[static_cast<std::size_t>((a * count + b) * width + x)];
  }
  template <std::size_t N>
  Values<N> read(std::int64_t a, std::int64_t b, std::int64_t x) const {
    Values<N> values{};
    for (std::size_t i = 0; i < N; ++i)
      if (const double* place = at(a, b, x + static_cast<std::int64_t>(i))) values[i] = std::abs(*place);
    return values;
  }
  template <std::size_t N>
  void add(std::int64_t a, std::int64_t b, std::int64_t x, const Values<N>& values, double factor) const {
    for (std::size_t i = 0; i < N; ++i)
      if (double* place = at(a, b, x + static_cast<std::int64_t>(i))) *place += factor * values[i];
  }
};

}  // namespace

BoundRule toom_cook_bound(std::int64_t taps, std::int64_t padding) {
  return [=](const ops::Op& op, const Reference& exact, const std::vector<double>& diff_dst) {
    const Shape in = exact.shapes[0], out = op.output(exact.shapes);
    const std::int64_t segments = (taps + 3) / 4, out_tiles = (out[2] + 3) / 4;
    std::vector<double> src = exact.src[0], weights = exact.weights[0], gradient = diff_dst;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      if (exact.dst[i] == 0) gradient[i] = 0;  // a ReLU's; else 0 has no chance

    Bounds b;
    b.dst.resize(exact.dst.size());
    b.diff_src.emplace_back(src.size());
    b.diff_weights.emplace_back(weights.size());
    const Rows x{src, in[1], in[2]}, dy{gradient, out[1], out[2]}, w{weights, in[1], taps};
    const Rows y_bound{b.dst, out[1], out[2]}, dx_bound{b.diff_src[0], in[1], in[2]},
        dw_bound{b.diff_weights[0], in[1], taps};
    const auto sums = static_cast<double>(segments * in[1]), out_sums = static_cast<double>(segments * out[1]);
    const auto tiles = static_cast<double>(in[0] * out_tiles);
    for (std::int64_t o = 0; o < out[1]; ++o)
      for (std::int64_t c = 0; c < in[1]; ++c)
        for (std::int64_t s = 0; s < segments; ++s) {
          const Points u = times(kG, w.read<4>(o, c, 4 * s));
          Points du{};
          for (std::int64_t n = 0; n < in[0]; ++n)
            for (std::int64_t t = 0; t < out_tiles; ++t) {
              const std::int64_t at = 4 * (t + s) - padding;
              const Points v = times(kB, x.read<7>(n, c, at)), d = times(kA, dy.read<4>(n, o, 4 * t));
              Points m{}, dv{};
              add_product(m, u, v);
              add_product(dv, u, d);
              add_product(du, v, d);
              y_bound.add(n, o, 4 * t, transposed_times(kA, m), rounding(sums + 12));
              dx_bound.add(n, c, at, transposed_times(kB, dv), rounding(out_sums + 12));
            }
          dw_bound.add(o, c, 4 * s, transposed_times(kG, du), rounding(tiles + 11));
        }
    if (exact.weights.size() > 1) {
      b.diff_weights.emplace_back(static_cast<std::size_t>(out[1]));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const std::size_t o = i / static_cast<std::size_t>(out[2]) % static_cast<std::size_t>(out[1]);
        b.dst[i] += kUnit * std::abs(exact.weights[1][o]);
        b.diff_weights[1][o] += rounding(tiles + 2) * std::abs(gradient[i]);
      }
    }
    if (!exact.training) b.diff_src.clear(), b.diff_weights.clear();
    return b;
  };
}

}  // namespace trireme::optest
