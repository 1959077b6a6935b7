// The passes of small_map_passes.h for AVX-512.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 is wrong about its own AVX-512 header
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/conv/small_map/small_map_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/conv/small_map/small_map_set.h"

namespace trireme::ops::small_map {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16, kBlock = 16;
  static constexpr int kRows = 6, kVectors = 4, kDotRows = 6, kDots = 4;
  using Vector = __m512;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+v"(v));
    return v;
  }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm512_max_ps(Vector{}, x); }
  [[gnu::always_inline]] static __m128 quarters(Vector v) {
    const __m256 halves = _mm256_add_ps(_mm512_castps512_ps256(v), _mm512_extractf32x8_ps(v, 1));
    return _mm_add_ps(_mm256_castps256_ps128(halves), _mm256_extractf128_ps(halves, 1));
  }
  // base::sum() of four vectors.
  [[gnu::always_inline]] static void store_sums(float* p, const Vector (&v)[4][1]) {
    __m128 a = quarters(v[0][0]), b = quarters(v[1][0]), c = quarters(v[2][0]), d = quarters(v[3][0]);
    _MM_TRANSPOSE4_PS(a, b, c, d);
    _mm_storeu_ps(p, _mm_add_ps(_mm_add_ps(a, c), _mm_add_ps(b, d)));
  }
};

}  // namespace

const Passes kAvx512Passes = Set<Avx512>::passes();

}  // namespace trireme::ops::small_map
