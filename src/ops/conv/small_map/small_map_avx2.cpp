// The passes of small_map_passes.h for AVX2.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/conv/small_map/small_map_passes.h"

#pragma GCC target("avx2,fma")

#include "ops/conv/small_map/small_map_set.h"

namespace trireme::ops::small_map {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8, kBlock = 8;
  static constexpr int kRows = 6, kVectors = 2, kDotRows = 3, kDots = 2;
  using Vector = __m256;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm256_set1_ps(x); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+x"(v));
    return v;
  }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm256_max_ps(Vector{}, x); }
  // base::sum() of sixteen lanes each.
  [[gnu::always_inline]] static float sum(const Vector (&v)[2]) {
    const __m256 halves = _mm256_add_ps(v[0], v[1]);
    const __m128 quarters = _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
    const __m128 eighths = _mm_add_ps(quarters, _mm_movehl_ps(quarters, quarters));
    return _mm_cvtss_f32(_mm_add_ss(eighths, _mm_movehdup_ps(eighths)));
  }
  [[gnu::always_inline]] static void store_sums(float* p, const Vector (&v)[2][2]) {
    p[0] = sum(v[0]);
    p[1] = sum(v[1]);
  }
};

}  // namespace

const Passes kAvx2Passes = Set<Avx2>::passes();

}  // namespace trireme::ops::small_map
