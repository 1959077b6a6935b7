// Vectors of a block of channels for AVX2. Included after the target pragma of its file.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace trireme::ops {

struct BlockVectorsAvx2 {
  static constexpr int kWidth = 8;
  using Vector = __m256;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm256_load_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm256_store_ps(p, v); }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm256_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  [[gnu::always_inline]] static Vector fnma(Vector a, Vector b, Vector c) { return _mm256_fnmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm256_max_ps(Vector{}, x); }
  [[gnu::always_inline]] static Vector where_positive(Vector sign, Vector x) {
    return _mm256_and_ps(_mm256_cmp_ps(sign, Vector{}, _CMP_GT_OQ), x);
  }
  [[gnu::always_inline]] static bool has_nonzero(Vector x) {
    return _mm256_movemask_ps(_mm256_cmp_ps(x, Vector{}, _CMP_NEQ_UQ)) != 0;
  }
  static void transpose(const float* from, std::int64_t step, float* to) {
    Vector a[8], b[8];
    for (int i = 0; i < 8; ++i) a[i] = load(from + i * step);
    for (int i = 0; i < 8; i += 4) {  // 4 x 4 within each half
      const Vector low01 = _mm256_unpacklo_ps(a[i], a[i + 1]), high01 = _mm256_unpackhi_ps(a[i], a[i + 1]);
      const Vector low23 = _mm256_unpacklo_ps(a[i + 2], a[i + 3]), high23 = _mm256_unpackhi_ps(a[i + 2], a[i + 3]);
      b[i] = _mm256_shuffle_ps(low01, low23, 0x44);
      b[i + 1] = _mm256_shuffle_ps(low01, low23, 0xee);
      b[i + 2] = _mm256_shuffle_ps(high01, high23, 0x44);
      b[i + 3] = _mm256_shuffle_ps(high01, high23, 0xee);
    }
    for (int i = 0; i < 4; ++i) {
      store(to + i * 8, _mm256_permute2f128_ps(b[i], b[i + 4], 0x20));
      store(to + (i + 4) * 8, _mm256_permute2f128_ps(b[i], b[i + 4], 0x31));
    }
  }
};

}  // namespace trireme::ops
