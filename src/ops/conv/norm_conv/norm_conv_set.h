// Set: the passes of norm_conv_passes.h, written once for an instruction set S: a vector type with kWidth lanes, masks
// of its first lanes, and how many sums its registers hold. Included by one .cpp per instruction set, after its target
// pragma.
#pragma once

#include <algorithm>
#include <utility>

#include "ops/conv/norm_conv/norm_conv_passes.h"

namespace trireme::ops::normed {
namespace {

template <class S>
struct Set {
  using Vector = typename S::Vector;
  using Mask = typename S::Mask;

  // The most even split of `count` into parts of at most `most`: the size of the next part.
  static std::int64_t share(std::int64_t count, std::int64_t most) {
    const std::int64_t parts = (count + most - 1) / most;
    return (count + parts - 1) / parts;
  }
  static std::int64_t vectors(std::int64_t count) { return (count + S::kWidth - 1) / S::kWidth; }
  // The lanes in use in the last vector of `count` elements.
  static Mask last_mask(std::int64_t count) { return S::mask(count - (vectors(count) - 1) * S::kWidth); }

  // A product of matrices: out(i, j) (+)= sum over k of a(i, k) * b(k, j).
  struct Product {
    const float* a;
    std::int64_t a_row, a_step;  // strides of i and of k
    const float* b;
    std::int64_t b_row;
    std::int64_t steps;  // values of k
    float* out;
    std::int64_t out_row;
    std::int64_t out_vector = S::kWidth;  // distance between vectors of j
  };

  // kRows rows and kVectors vectors of a product; the last vector is masked.
  template <int kRows, int kVectors, bool kAdd>
  static void product_part(const Product& p, Mask last) {
    Vector sums[kRows][kVectors];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        if constexpr (!kAdd)
          sums[i][v] = S::splat(0.0f);
        else
          sums[i][v] = load<kVectors>(p.out + i * p.out_row, v, last);
      }
    const float* a[kRows];
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i) a[i] = p.a + i * p.a_row;
    const float* b = p.b;
    for (std::int64_t k = 0, at = 0; k < p.steps; ++k, at += p.a_step, b += p.b_row) {
      Vector values[kVectors];
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) values[v] = S::held(load<kVectors>(b, v, last));
#pragma GCC unroll 16
      for (int i = 0; i < kRows; ++i) {
        const Vector factor = S::splat(a[i][at]);
#pragma GCC unroll 16
        for (int v = 0; v < kVectors; ++v) sums[i][v] = S::fma(factor, values[v], sums[i][v]);
      }
    }
#pragma GCC unroll 16
    for (int i = 0; i < kRows; ++i)
#pragma GCC unroll 16
      for (int v = 0; v < kVectors; ++v) {
        float* to = p.out + i * p.out_row + v * p.out_vector;
        if (v + 1 < kVectors)
          S::store(to, sums[i][v]);
        else
          S::store_part(to, sums[i][v], last);
      }
  }
  template <int kVectors>
  [[gnu::always_inline]] static Vector load(const float* from, int v, Mask last) {
    return v + 1 < kVectors ? S::load(from + v * S::kWidth) : S::load_part(from + v * S::kWidth, last);
  }

  using ProductPart = void (*)(const Product&, Mask);
  template <int kRows, int kVectors, bool kAdd>
  static constexpr ProductPart product_case() {
    if constexpr (kRows * kVectors <= S::kSums)
      return &product_part<kRows, kVectors, kAdd>;
    else
      return nullptr;
  }
  struct ProductParts {
    ProductPart of[S::kRows * S::kVectors];
  };
  template <bool kAdd, int... kCase>
  static constexpr ProductParts product_parts(std::integer_sequence<int, kCase...>) {
    return {{product_case<kCase / S::kVectors + 1, kCase % S::kVectors + 1, kAdd>()...}};
  }

  template <bool kAdd>
  static void multiply(Product p, std::int64_t rows, std::int64_t columns) {
    static constexpr ProductParts kParts =
        product_parts<kAdd>(std::make_integer_sequence<int, S::kRows * S::kVectors>{});
    const Mask whole = S::mask(S::kWidth), last = last_mask(columns);
    for (std::int64_t left = vectors(columns); left > 0;) {
      const std::int64_t together = share(left, S::kVectors);
      left -= together;
      Product part = p;
      for (std::int64_t i = 0; i < rows;) {
        const std::int64_t count = share(rows - i, std::min<std::int64_t>(S::kRows, S::kSums / together));
        kParts.of[(count - 1) * S::kVectors + together - 1](part, left > 0 ? whole : last);
        part.a += count * p.a_row;
        part.out += count * p.out_row;
        i += count;
      }
      p.b += together * S::kWidth;
      p.out += together * p.out_vector;
    }
  }

  // Computes a tile of y; its padding is 0.
  static void normalize(const Sizes& s, Rows<const float> x, std::int64_t rows, Norm norm, float* tile) {
    const Mask last = last_mask(s.in);
    const std::int64_t whole = (vectors(s.in) - 1) * S::kWidth, row = s.padded_in();
    const auto one = [&](const Vector& value, std::int64_t c, float* to) {
      S::store(to + c, S::positive_part(S::fma(value, S::load(norm.a + c), S::load(norm.b + c))));
    };
    for (std::int64_t r = 0; r < rows; ++r) {
      const float* from = x.data + r * x.row;
      float* to = tile + r * row;
      for (std::int64_t c = 0; c < whole; c += S::kWidth) one(S::load(from + c), c, to);
      one(S::load_part(from + whole, last), whole, to);
      for (std::int64_t c = whole + S::kWidth; c < row; c += S::kWidth) S::store(to + c, S::splat(0.0f));
    }
  }

  // Calls f(first row, rows) for the tiles.
  template <class F>
  static void for_each_tile(std::int64_t rows, const F& f) {
    for (std::int64_t r = 0; r < rows; r += kTile) f(r, std::min(kTile, rows - r));
  }

  // Two sums per channel over a tile, in strips of channels that fit the registers. terms(from row, c, mask) gives
  // (u, q) for a vector: first += u, second += u * q.
  template <int kStrip, class Terms>
  static void sum_strip(std::int64_t rows, std::int64_t c, Mask last, double* first, double* second,
                        const Terms& terms) {
    Vector u[kStrip], uq[kStrip];
    for (int v = 0; v < kStrip; ++v) u[v] = uq[v] = S::splat(0.0f);
    const Mask whole = S::mask(S::kWidth);
    for (std::int64_t r = 0; r < rows; ++r)
      for (int v = 0; v < kStrip; ++v) {
        Vector value, factor;
        terms(r, c + v * S::kWidth, v + 1 < kStrip ? whole : last, value, factor);
        u[v] = u[v] + value;
        uq[v] = S::fma(value, factor, uq[v]);
      }
    for (int v = 0; v < kStrip; ++v) {
      S::add_to(first + c + v * S::kWidth, u[v]);
      S::add_to(second + c + v * S::kWidth, uq[v]);
    }
  }
  template <class Terms>
  static void sum_tile(std::int64_t channels, std::int64_t rows, double* first, double* second, const Terms& terms) {
    const Mask whole = S::mask(S::kWidth), last = last_mask(channels);
    for (std::int64_t c = 0, left = vectors(channels); left > 0;) {
      const std::int64_t together = share(left, 4);
      left -= together;
      const Mask mask = left > 0 ? whole : last;
      if (together == 4) sum_strip<4>(rows, c, mask, first, second, terms);
      if (together == 3) sum_strip<3>(rows, c, mask, first, second, terms);
      if (together == 2) sum_strip<2>(rows, c, mask, first, second, terms);
      if (together == 1) sum_strip<1>(rows, c, mask, first, second, terms);
      c += together * S::kWidth;
    }
  }

  static void statistics(const Sizes& s, Rows<const float> x, const float* origin, double* first, double* second) {
    for_each_tile(s.rows, [&](std::int64_t top, std::int64_t rows) {
      const float* from = x.data + top * x.row;
      sum_tile(s.in, rows, first, second, [&](std::int64_t r, std::int64_t c, Mask mask, Vector& u, Vector& q) {
        u = q = S::load_part(from + r * x.row + c, mask) - S::load(origin + c);
      });
    });
  }

  static void forward(const Sizes& s, Rows<const float> x, Norm norm, const float* weights, Blocks<float> dst,
                      float* tile) {
    // If a block is not one vector, the rows are computed first and then copied.
    const bool direct = dst.block == s.out || dst.block == S::kWidth;
    float* rows_of_dst = tile + kTile * s.padded_in();
    for_each_tile(s.rows, [&](std::int64_t top, std::int64_t rows) {
      normalize(s, {x.data + top * x.row, x.row}, rows, norm, tile);
      float* to = dst.data + top * dst.row;
      if (direct)
        multiply<false>(
            {tile, s.padded_in(), 1, weights, s.out, s.in, to, dst.row, dst.block == s.out ? S::kWidth : dst.plane},
            rows, s.out);
      else
        multiply<false>({tile, s.padded_in(), 1, weights, s.out, s.in, rows_of_dst, s.out}, rows, s.out);
      if (direct) return;
      for (std::int64_t r = 0; r < rows; ++r)
        for (std::int64_t o = 0; o < s.out; ++o) to[r * dst.row + dst.at(o)] = rows_of_dst[r * s.out + o];
    });
  }

  // A tile of diff_dst as rows: in place, or copied.
  static Rows<const float> rows_of(const Sizes& s, Blocks<const float> diff_dst, std::int64_t top, std::int64_t rows,
                                   float* copy) {
    const float* from = diff_dst.data + top * diff_dst.row;
    if (diff_dst.block == s.out) return {from, diff_dst.row};
    for (std::int64_t r = 0; r < rows; ++r, from += diff_dst.row)
      for (std::int64_t o = 0; o < s.out; o += diff_dst.block)
        std::copy_n(from + diff_dst.at(o), diff_dst.block, copy + r * s.out + o);
    return {copy, s.out};
  }

  static void backward(const Sizes& s, Rows<const float> x, Norm norm, const float* weights,
                       Blocks<const float> diff_dst, Rows<float> diff_y, double* first, double* second,
                       float* diff_weights, float* tile) {
    for_each_tile(s.rows, [&](std::int64_t top, std::int64_t rows) {
      const float* from = x.data + top * x.row;
      const Rows<const float> gradient = rows_of(s, diff_dst, top, rows, tile + kTile * s.padded_in());
      float* passed = diff_y.data + top * diff_y.row;
      normalize(s, {from, x.row}, rows, norm, tile);
      multiply<true>({tile, 1, s.padded_in(), gradient.data, gradient.row, rows, diff_weights, s.out}, s.in, s.out);
      multiply<false>({gradient.data, gradient.row, 1, weights, s.in, s.out, passed, diff_y.row}, rows, s.in);
      sum_tile(s.in, rows, first, second, [&](std::int64_t r, std::int64_t c, Mask mask, Vector& u, Vector& q) {
        u = S::where_positive(S::load(tile + r * s.padded_in() + c), S::load_part(passed + r * diff_y.row + c, mask));
        q = S::load_part(from + r * x.row + c, mask) - S::load(norm.mean + c);
        S::store_part(passed + r * diff_y.row + c, u, mask);
      });
    });
  }

  static void make_diff_x(const Sizes& s, Rows<const float> x, Rows<const float> diff_y, Norm norm, const float* slope,
                          const float* level, bool add, Rows<float> diff_x) {
    const Mask whole = S::mask(S::kWidth), last = last_mask(s.in);
    for (std::int64_t r = 0; r < s.rows; ++r)
      for (std::int64_t c = 0; c < s.in; c += S::kWidth) {
        const Mask mask = s.in - c < S::kWidth ? last : whole;
        float* to = diff_x.data + r * diff_x.row + c;
        const Vector distance = S::load_part(x.data + r * x.row + c, mask) - S::load(norm.mean + c);
        Vector value = S::fma(S::load(slope + c), distance, S::load(level + c));
        value = S::fma(S::load(norm.a + c), S::load_part(diff_y.data + r * diff_y.row + c, mask), value);
        S::store_part(to, add ? S::load_part(to, mask) + value : value, mask);
      }
  }

  static constexpr Passes passes() { return {S::kBlock, &statistics, &forward, &backward, &make_diff_x}; }
};

}  // namespace
}  // namespace trireme::ops::normed
