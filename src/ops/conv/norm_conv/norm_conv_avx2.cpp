// The passes of norm_conv_passes.h for AVX2.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/conv/norm_conv/norm_conv_passes.h"

#pragma GCC target("avx2,fma")

#include "ops/conv/norm_conv/norm_conv_set.h"

namespace trireme::ops::normed {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8, kBlock = 8;
  static constexpr int kSums = 12, kRows = 6, kVectors = 2;
  using Vector = __m256;
  using Mask = __m256i;

  [[gnu::always_inline]] static Mask mask(std::int64_t lanes) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(lanes)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  [[gnu::always_inline]] static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  [[gnu::always_inline]] static Vector load_part(const float* p, Mask mask) { return _mm256_maskload_ps(p, mask); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  // Masked stores are slow on some CPUs, so whole vectors are stored without a mask.
  [[gnu::always_inline]] static void store_part(float* p, Vector v, Mask mask) {
    if (_mm256_movemask_ps(_mm256_castsi256_ps(mask)) == 0xff)
      store(p, v);
    else
      _mm256_maskstore_ps(p, mask, v);
  }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm256_set1_ps(x); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+x"(v));
    return v;
  }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm256_max_ps(Vector{}, x); }
  [[gnu::always_inline]] static Vector where_positive(Vector sign, Vector x) {
    return _mm256_and_ps(_mm256_cmp_ps(sign, Vector{}, _CMP_GT_OQ), x);
  }
  [[gnu::always_inline]] static void add_to(double* sums, Vector v) {
    const __m256d low = _mm256_cvtps_pd(_mm256_castps256_ps128(v)), high = _mm256_cvtps_pd(_mm256_extractf128_ps(v, 1));
    _mm256_storeu_pd(sums, _mm256_add_pd(_mm256_loadu_pd(sums), low));
    _mm256_storeu_pd(sums + 4, _mm256_add_pd(_mm256_loadu_pd(sums + 4), high));
  }
};

}  // namespace

const Passes kAvx2Passes = Set<Avx2>::passes();

}  // namespace trireme::ops::normed
