// The rounding of the Winograd convolution F(4x4, 3x3), to first order.
//
// With the matrices of ops/conv/winograd/winograd_passes.h every result is a sum of products of transformed values. If
// no value goes through more than K roundings, the error is at most K u / (1 - K u) times the same expression with all
// matrices and values absolute (Higham, Accuracy and Stability, 3.1; Barabasz et al., Error analysis and improving the
// accuracy of Winograd convolution, theorem 2): for dst
//   |A^T| [ sum over c of (|G| |g| |G^T|) . (|B^T| |d| |B|) ] |A|.
// It is larger than the sum of absolute products of the direct algorithm, by at most the product of the matrices'
// norms, because large terms cancel; that factor does not grow with the channels. The longest chains of roundings:
//   V 6 (two lines of depth 3)       D 6        U 6 (two lines of depth 2, a rounded scale and its product)
//   dst       6 + 6 + C + 6 + 1      the sum of C channels, two lines of depth 3, the bias
//   diff_src  6 + 6 + K + 8 + 3      the sum of K channels, two lines of depth 4, three more tiles that overlap
//   diff_weights  6 + 6 + T + 2 + 6  the sum of T tiles, scale and product, two lines of depth 3
//   diff_bias 2 + 4 T                sums of four, one after the other
#include <algorithm>
#include <array>
#include <cmath>

#include "ops/cases/bounds.h"

namespace trireme::optest {
namespace {

template <int Rows, int Columns>
using Matrix = std::array<std::array<double, Columns>, Rows>;

// Absolute values, for the points 0, +-p, +-q and infinity.
constexpr double p = 0.75, q = 1.5, pp = p * p, qq = q * q;
constexpr Matrix<6, 6> kB{{{pp * qq, 0, pp + qq, 0, 1, 0},
                           {0, p* qq, qq, p, 1, 0},
                           {0, p* qq, qq, p, 1, 0},
                           {0, q* pp, pp, q, 1, 0},
                           {0, q* pp, pp, q, 1, 0},
                           {0, pp* qq, 0, pp + qq, 0, 1}}};  // B^T
constexpr double kOfP = 1 / (2 * pp * (qq - pp)), kOfQ = 1 / (2 * qq * (qq - pp));
constexpr Matrix<6, 3> kG{{{1 / (pp * qq), 0, 0},
                           {kOfP, kOfP* p, kOfP* pp},
                           {kOfP, kOfP* p, kOfP* pp},
                           {kOfQ, kOfQ* q, kOfQ* qq},
                           {kOfQ, kOfQ* q, kOfQ* qq},
                           {0, 0, 1}}};
constexpr Matrix<6, 4> kA{
    {{1, 0, 0, 0}, {1, p, pp, p* pp}, {1, p, pp, p* pp}, {1, q, qq, q* qq}, {1, q, qq, q* qq}, {0, 0, 0, 1}}};

template <std::size_t Rows, std::size_t Columns>
auto transposed(const std::array<std::array<double, Columns>, Rows>& m) {
  std::array<std::array<double, Rows>, Columns> t{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Columns; ++j) t[j][i] = m[i][j];
  return t;
}

// M x M^T.
template <std::size_t Rows, std::size_t Columns>
std::array<std::array<double, Rows>, Rows> both_sides(const std::array<std::array<double, Columns>, Rows>& m,
                                                      const std::array<std::array<double, Columns>, Columns>& x) {
  std::array<std::array<double, Rows>, Rows> y{};
  for (std::size_t i = 0; i < Rows; ++i)
    for (std::size_t j = 0; j < Rows; ++j)
      for (std::size_t k = 0; k < Columns; ++k)
        for (std::size_t l = 0; l < Columns; ++l) y[i][j] += m[i][k] * x[k][l] * m[j][l];
  return y;
}

using Points = Matrix<6, 6>;
void add_product(Points& sum, const Points& a, const Points& b) {
  for (std::size_t i = 0; i < 6; ++i)
    for (std::size_t j = 0; j < 6; ++j) sum[i][j] += a[i][j] * b[i][j];
}

// A map within a tensor N x C x H x W; what lies outside it is zero and cannot be written.
struct Map {
  std::vector<double>& all;
  const Shape& shape;
  std::int64_t sample, channel;

  double* at(std::int64_t y, std::int64_t x) const {
    if (y < 0 || x < 0 || y >= shape[2] || x >= shape[3]) return nullptr;
    return &all[static_cast<std::size_t>(((sample * shape[1] + channel) * shape[2] + y) * shape[3] + x)];
  }
  template <std::size_t N>
  void read(std::int64_t y, std::int64_t x, std::array<std::array<double, N>, N>& window) const {
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j) {
        const double* place = at(y + static_cast<std::int64_t>(i), x + static_cast<std::int64_t>(j));
        window[i][j] = place == nullptr ? 0 : std::abs(*place);
      }
  }
  template <std::size_t N>
  void add(std::int64_t y, std::int64_t x, const std::array<std::array<double, N>, N>& window, double factor) const {
    for (std::size_t i = 0; i < N; ++i)
      for (std::size_t j = 0; j < N; ++j)
        if (double* place = at(y + static_cast<std::int64_t>(i), x + static_cast<std::int64_t>(j)))
          *place += factor * window[i][j];
  }
};

}  // namespace

BoundRule winograd_bound(std::int64_t pad_top, std::int64_t pad_left) {
  return [=](const ops::Op& op, const Reference& exact, const std::vector<double>& diff_dst) {
    const Shape in = exact.shapes[0], out = op.output(exact.shapes), filters{out[1], in[1], 3, 3};
    std::vector<double> src = exact.src[0], weights = exact.weights[0], gradient = diff_dst;
    const bool bias = exact.weights.size() > 1;
    for (std::size_t i = 0; i < gradient.size(); ++i)
      if (exact.dst[i] == 0) gradient[i] = 0;  // a ReLU's; else 0 has no chance
    const std::int64_t rows = (out[2] + 3) / 4, columns = (out[3] + 3) / 4;
    const auto channels = static_cast<double>(in[1]), out_channels = static_cast<double>(out[1]);
    const auto tiles = static_cast<double>(in[0] * rows * columns);

    Bounds b;
    b.dst.resize(exact.dst.size());
    b.diff_src.emplace_back(src.size());
    b.diff_weights.emplace_back(weights.size());
    std::vector<Points> u(static_cast<std::size_t>(out[1] * in[1])), du(u.size());
    for (std::int64_t o = 0; o < out[1]; ++o)
      for (std::int64_t c = 0; c < in[1]; ++c) {
        Matrix<3, 3> g{};
        Map{weights, filters, o, c}.read(0, 0, g);
        u[static_cast<std::size_t>(o * in[1] + c)] = both_sides(kG, g);
      }
    std::vector<Points> v(static_cast<std::size_t>(in[1])), d(static_cast<std::size_t>(out[1]));
    for (std::int64_t tile = 0; tile < in[0] * rows * columns; ++tile) {
      const std::int64_t n = tile / (rows * columns), y = tile / columns % rows * 4, x = tile % columns * 4;
      for (std::int64_t c = 0; c < in[1]; ++c) {
        Points window{};
        Map{src, in, n, c}.read(y - pad_top, x - pad_left, window);
        v[static_cast<std::size_t>(c)] = both_sides(kB, window);
      }
      for (std::int64_t o = 0; o < out[1]; ++o) {
        Matrix<4, 4> window{};
        Map{gradient, out, n, o}.read(y, x, window);
        d[static_cast<std::size_t>(o)] = both_sides(kA, window);
        Points m{};
        for (std::int64_t c = 0; c < in[1]; ++c) {
          const auto f = static_cast<std::size_t>(o * in[1] + c);
          add_product(m, v[static_cast<std::size_t>(c)], u[f]);
          add_product(du[f], v[static_cast<std::size_t>(c)], d[static_cast<std::size_t>(o)]);
        }
        Map{b.dst, out, n, o}.add(y, x, both_sides(transposed(kA), m), rounding(channels + 19));
      }
      for (std::int64_t c = 0; c < in[1]; ++c) {
        Points m{};
        for (std::int64_t o = 0; o < out[1]; ++o)
          add_product(m, d[static_cast<std::size_t>(o)], u[static_cast<std::size_t>(o * in[1] + c)]);
        Map{b.diff_src[0], in, n, c}.add(y - pad_top, x - pad_left, both_sides(transposed(kB), m),
                                         rounding(out_channels + 23));
      }
    }
    for (std::int64_t o = 0; o < out[1]; ++o)
      for (std::int64_t c = 0; c < in[1]; ++c)
        Map{b.diff_weights[0], filters, o, c}.add(
            0, 0, both_sides(transposed(kG), du[static_cast<std::size_t>(o * in[1] + c)]), rounding(tiles + 20));
    if (bias) {
      b.diff_weights.emplace_back(static_cast<std::size_t>(out[1]));
      for (std::size_t i = 0; i < gradient.size(); ++i) {
        const std::size_t o = i / static_cast<std::size_t>(out[2] * out[3]) % static_cast<std::size_t>(out[1]);
        b.dst[i] += kUnit * std::abs(exact.weights[1][o]);
        b.diff_weights[1][o] += rounding(4 * tiles + 2) * std::abs(gradient[i]);
      }
    }
    if (!exact.training) b.diff_src.clear(), b.diff_weights.clear();
    return b;
  };
}

}  // namespace trireme::optest
