// Vectors of a block of channels for AVX-512. Included after the target pragma of its file.
#pragma once

#include <immintrin.h>

#include <cstdint>

namespace trireme::ops {

struct BlockVectorsAvx512 {
  static constexpr int kWidth = 16;
  using Vector = __m512;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_load_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_store_ps(p, v); }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  [[gnu::always_inline]] static Vector fnma(Vector a, Vector b, Vector c) { return _mm512_fnmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm512_max_ps(Vector{}, x); }
  [[gnu::always_inline]] static Vector where_positive(Vector sign, Vector x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(sign, Vector{}, _CMP_GT_OQ), x);
  }
  [[gnu::always_inline]] static bool has_nonzero(Vector x) { return _mm512_cmp_ps_mask(x, Vector{}, _CMP_NEQ_UQ) != 0; }
  static void transpose(const float* from, std::int64_t step, float* to) {
    Vector a[16], b[16];
    for (int i = 0; i < 16; ++i) a[i] = load(from + i * step);
    for (int i = 0; i < 16; i += 4) {  // 4 x 4 within each quarter
      const Vector low01 = _mm512_unpacklo_ps(a[i], a[i + 1]), high01 = _mm512_unpackhi_ps(a[i], a[i + 1]);
      const Vector low23 = _mm512_unpacklo_ps(a[i + 2], a[i + 3]), high23 = _mm512_unpackhi_ps(a[i + 2], a[i + 3]);
      b[i] = _mm512_shuffle_ps(low01, low23, 0x44);
      b[i + 1] = _mm512_shuffle_ps(low01, low23, 0xee);
      b[i + 2] = _mm512_shuffle_ps(high01, high23, 0x44);
      b[i + 3] = _mm512_shuffle_ps(high01, high23, 0xee);
    }
    for (int i = 0; i < 4; ++i) {  // the quarters, transposed as a 4 x 4 matrix
      const Vector low = _mm512_shuffle_f32x4(b[i], b[i + 4], 0x88), high = _mm512_shuffle_f32x4(b[i], b[i + 4], 0xdd);
      const Vector low2 = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0x88);
      const Vector high2 = _mm512_shuffle_f32x4(b[i + 8], b[i + 12], 0xdd);
      store(to + i * 16, _mm512_shuffle_f32x4(low, low2, 0x88));
      store(to + (i + 4) * 16, _mm512_shuffle_f32x4(high, high2, 0x88));
      store(to + (i + 8) * 16, _mm512_shuffle_f32x4(low, low2, 0xdd));
      store(to + (i + 12) * 16, _mm512_shuffle_f32x4(high, high2, 0xdd));
    }
  }
};

}  // namespace trireme::ops
