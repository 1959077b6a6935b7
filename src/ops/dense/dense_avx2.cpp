// The passes of dense layers for AVX2: sixteen lanes in two registers.
#include <immintrin.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "ops/dense/dense_passes.h"

#pragma GCC target("avx2,fma")

#include "ops/dense/dense_dots.h"
#include "ops/dense/dense_sums.h"

namespace trireme::ops::dense_passes {
namespace {

struct Avx2 {
  static constexpr int kDotRows = 3, kDotColumns = 2, kSumRows = 6, kSumColumns = 1;
  struct Vector {
    __m256 low, high;
  };

  [[gnu::always_inline]] static Vector zero() { return {_mm256_setzero_ps(), _mm256_setzero_ps()}; }
  [[gnu::always_inline]] static Vector load(const float* p) { return {_mm256_loadu_ps(p), _mm256_loadu_ps(p + 8)}; }
  [[gnu::always_inline]] static void store(float* p, Vector v) {
    _mm256_storeu_ps(p, v.low);
    _mm256_storeu_ps(p + 8, v.high);
  }
  [[gnu::always_inline]] static void stream(float* p, Vector v) {
    _mm256_stream_ps(p, v.low);
    _mm256_stream_ps(p + 8, v.high);
  }
  static void fence() { _mm_sfence(); }
  // All bits set in the first `count` of eight lanes.
  [[gnu::always_inline]] static __m256i mask(std::int64_t count) {
    return _mm256_cmpgt_epi32(_mm256_set1_epi32(static_cast<int>(count)), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
  }
  [[gnu::always_inline]] static Vector load_part(const float* p, std::int64_t count) {
    return {_mm256_maskload_ps(p, mask(count)), _mm256_maskload_ps(p + 8, mask(count - 8))};
  }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, std::int64_t count) {
    _mm256_maskstore_ps(p, mask(count), v.low);
    _mm256_maskstore_ps(p + 8, mask(count - 8), v.high);
  }
  [[gnu::always_inline]] static Vector splat(float x) { return {_mm256_set1_ps(x), _mm256_set1_ps(x)}; }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) {
    return {_mm256_fmadd_ps(a.low, b.low, c.low), _mm256_fmadd_ps(a.high, b.high, c.high)};
  }

  [[gnu::always_inline]] static void keep(Vector&) {}
  [[gnu::always_inline]] static __m128 quarter(Vector v) {
    const __m256 eight = _mm256_add_ps(v.low, v.high);
    return _mm_add_ps(_mm256_castps256_ps128(eight), _mm256_extractf128_ps(eight, 1));
  }
  [[gnu::always_inline]] static __m128 add_lanes(Vector a, Vector b, Vector c, Vector d) {
    const __m128 qa = quarter(a), qb = quarter(b), qc = quarter(c), qd = quarter(d);
    const __m128 ab = _mm_add_ps(_mm_movelh_ps(qa, qb), _mm_movehl_ps(qb, qa));
    const __m128 cd = _mm_add_ps(_mm_movelh_ps(qc, qd), _mm_movehl_ps(qd, qc));
    return _mm_add_ps(_mm_shuffle_ps(ab, cd, 0x88), _mm_shuffle_ps(ab, cd, 0xdd));
  }
};

}  // namespace

const Passes kAvx2{DotTiles<Avx2>::run, SumTiles<Avx2>::run};

}  // namespace trireme::ops::dense_passes
