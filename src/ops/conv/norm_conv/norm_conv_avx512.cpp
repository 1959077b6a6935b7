// The passes of norm_conv_passes.h for AVX-512.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 is wrong about its own AVX-512 header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/conv/norm_conv/norm_conv_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/conv/norm_conv/norm_conv_set.h"

namespace trireme::ops::normed {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16, kBlock = 16;
  static constexpr int kSums = 24, kRows = 8, kVectors = 4;
  using Vector = __m512;
  using Mask = __mmask16;

  [[gnu::always_inline]] static Mask mask(std::int64_t lanes) { return static_cast<Mask>((1u << lanes) - 1); }
  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  [[gnu::always_inline]] static Vector load_part(const float* p, Mask mask) { return _mm512_maskz_loadu_ps(mask, p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, Mask mask) { _mm512_mask_storeu_ps(p, mask, v); }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+v"(v));
    return v;
  }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm512_max_ps(Vector{}, x); }
  [[gnu::always_inline]] static Vector where_positive(Vector sign, Vector x) {
    return _mm512_maskz_mov_ps(_mm512_cmp_ps_mask(sign, Vector{}, _CMP_GT_OQ), x);
  }
  [[gnu::always_inline]] static void add_to(double* sums, Vector v) {
    const __m512d low = _mm512_cvtps_pd(_mm512_castps512_ps256(v));
    const __m512d high = _mm512_cvtps_pd(_mm512_extractf32x8_ps(v, 1));
    _mm512_storeu_pd(sums, _mm512_add_pd(_mm512_loadu_pd(sums), low));
    _mm512_storeu_pd(sums + 8, _mm512_add_pd(_mm512_loadu_pd(sums + 8), high));
  }
};

}  // namespace

const Passes kAvx512Passes = Set<Avx512>::passes();

}  // namespace trireme::ops::normed
