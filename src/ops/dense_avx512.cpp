// The passes of dense layers for AVX-512.
#pragma GCC diagnostic ignored "-Wuninitialized"  // GCC 12 is wrong about its own AVX-512 header
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/dense_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/dense_dots.h"
#include "ops/dense_sums.h"

namespace trireme::ops::dense_passes {
namespace {

struct Avx512 {
  static constexpr int kDotRows = 6, kDotColumns = 4, kSumRows = 14, kSumColumns = 2;
  static constexpr int kHint = 2;
  static constexpr std::int64_t kPackFrom = 64;
  using Vector = __m512;

  [[gnu::always_inline]] static Vector zero() { return _mm512_setzero_ps(); }
  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  static __mmask16 mask(std::int64_t count) { return static_cast<__mmask16>((1u << count) - 1); }
  [[gnu::always_inline]] static Vector load_part(const float* p, std::int64_t count) {
    return _mm512_maskz_loadu_ps(mask(count), p);
  }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, std::int64_t count) {
    _mm512_mask_storeu_ps(p, mask(count), v);
  }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }

  template <int C>
  [[gnu::always_inline]] static void add_lanes(const Vector (&v)[C], float (&sums)[C]) {
    repeat<C>([&](auto c) __attribute__((always_inline)) {
      const __m256 eight = _mm256_add_ps(_mm512_castps512_ps256(v[c]), _mm512_extractf32x8_ps(v[c], 1));
      const __m128 four = _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
      const __m128 two = _mm_add_ps(four, _mm_movehl_ps(four, four));
      sums[c] = _mm_cvtss_f32(_mm_add_ss(two, _mm_movehdup_ps(two)));
    });
  }
};

}  // namespace

const Passes kAvx512{DotTiles<Avx512>::run, SumTiles<Avx512>::run};

}  // namespace trireme::ops::dense_passes
