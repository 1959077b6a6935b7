// The passes of dense layers in plain C++, with the same bits as the others: for tests and for CPUs without AVX2.
#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/dense/dense_dots.h"
#include "ops/dense/dense_sums.h"

namespace trireme::ops::dense_passes {
namespace {

struct Generic {
  static constexpr int kDotRows = 2, kDotColumns = 2, kSumRows = 2, kSumColumns = 1;
  struct Vector {
    float lane[16];
  };

  static Vector zero() { return {}; }
  static Vector load(const float* p) { return load_part(p, 16); }
  static void store(float* p, const Vector& v) { store_part(p, v, 16); }
  static Vector load_part(const float* p, std::int64_t count) {
    Vector v{};
    std::copy_n(p, count, v.lane);
    return v;
  }
  static void store_part(float* p, const Vector& v, std::int64_t count) { std::copy_n(v.lane, count, p); }
  static void stream(float* p, const Vector& v) { store(p, v); }
  static void fence() {}
  static Vector splat(float x) {
    Vector v;
    std::fill_n(v.lane, 16, x);
    return v;
  }
  static Vector fma(const Vector& a, const Vector& b, const Vector& c) {
    Vector v;
    for (int i = 0; i < 16; ++i) v.lane[i] = __builtin_fmaf(a.lane[i], b.lane[i], c.lane[i]);
    return v;
  }

  static void keep(Vector&) {}
  static float sum(Vector v) {
    for (int half = 8; half > 0; half /= 2)
      for (int i = 0; i < half; ++i) v.lane[i] += v.lane[i + half];
    return v.lane[0];
  }
  static __m128 add_lanes(const Vector& a, const Vector& b, const Vector& c, const Vector& d) {
    return _mm_setr_ps(sum(a), sum(b), sum(c), sum(d));
  }
};

}  // namespace

const Passes kGeneric{DotTiles<Generic>::run, SumTiles<Generic>::run};

}  // namespace trireme::ops::dense_passes
