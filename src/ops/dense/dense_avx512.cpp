// The passes of dense layers for AVX-512.
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 is wrong about its own AVX-512 header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/dense/dense_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/dense/dense_dots.h"
#include "ops/dense/dense_sums.h"

namespace trireme::ops::dense_passes {
namespace {

struct Avx512 {
  static constexpr int kDotRows = 6, kDotColumns = 4, kSumRows = 14, kSumColumns = 2;
  using Vector = __m512;

  [[gnu::always_inline]] static Vector zero() { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  [[gnu::always_inline]] static void stream(float* p, Vector v) { _mm512_stream_ps(p, v); }
  static void fence() { _mm_sfence(); }
  static __mmask16 mask(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  [[gnu::always_inline]] static Vector load_part(const float* p, std::int64_t count) {
    return _mm512_maskz_loadu_ps(mask(count), p);
  }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, std::int64_t count) {
    _mm512_mask_storeu_ps(p, mask(count), v);
  }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

  // Keeps the value in a register, so that it is loaded once and not by each use.
  [[gnu::always_inline]] static void keep(Vector& v) { asm("" : "+v"(v)); }
  // Each step adds the halves of every sum.
  [[gnu::always_inline]] static __m128 add_lanes(Vector a, Vector b, Vector c, Vector d) {
    const Vector ab = _mm512_add_ps(_mm512_shuffle_f32x4(a, b, 0x44), _mm512_shuffle_f32x4(a, b, 0xee));
    const Vector cd = _mm512_add_ps(_mm512_shuffle_f32x4(c, d, 0x44), _mm512_shuffle_f32x4(c, d, 0xee));
    const Vector four = _mm512_add_ps(_mm512_shuffle_f32x4(ab, cd, 0x88), _mm512_shuffle_f32x4(ab, cd, 0xdd));
    const Vector two = _mm512_add_ps(four, _mm512_permute_ps(four, 0x4e));
    const Vector one = _mm512_add_ps(two, _mm512_permute_ps(two, 0xb1));
    const __m512i firsts = _mm512_castsi128_si512(_mm_setr_epi32(0, 4, 8, 12));
    return _mm512_castps512_ps128(_mm512_permutexvar_ps(firsts, one));
  }
};

}  // namespace

const Passes kAvx512{DotTiles<Avx512>::run, SumTiles<Avx512>::run};

}  // namespace trireme::ops::dense_passes
