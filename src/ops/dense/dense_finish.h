// Finish: stores the dot products of a block: adds them to the sum of the earlier blocks in dst and, after the last
// block, adds the bias and applies ReLU. Thread-safe. Four results at a time with SSE, which every x86-64 has.
#pragma once

#include <xmmintrin.h>

#include <cstdint>

namespace trireme::ops::dense_passes {

struct Finish {
  bool first;         // dst holds nothing yet
  const float* bias;  // set in the last block, as is relu
  bool relu;

  // C = 1, 2 or 4 results of one row.
  template <int C>
  [[gnu::always_inline]] void row(__m128 sums, float* dst) const {
    if (!first) sums = _mm_add_ps(load<C>(dst), sums);
    if (bias) sums = _mm_add_ps(sums, load<C>(bias));
    store<C>(dst, rectified(sums));
  }
  // Two results of each of two rows.
  [[gnu::always_inline]] void two_rows(__m128 sums, float* dst, float* second) const {
    if (!first) sums = _mm_add_ps(_mm_movelh_ps(load<2>(dst), load<2>(second)), sums);
    if (bias) sums = _mm_add_ps(sums, _mm_movelh_ps(load<2>(bias), load<2>(bias)));
    sums = rectified(sums);
    store<2>(dst, sums);
    store<2>(second, _mm_movehl_ps(sums, sums));
  }

 private:
  // NaN stays NaN.
  [[gnu::always_inline]] __m128 rectified(__m128 x) const {
    return relu ? _mm_and_ps(_mm_cmpnle_ps(x, _mm_setzero_ps()), x) : x;
  }
  template <int C>
  [[gnu::always_inline]] static __m128 load(const float* p) {
    if constexpr (C == 4) return _mm_loadu_ps(p);
    if constexpr (C == 2) return _mm_loadl_pi(_mm_setzero_ps(), reinterpret_cast<const __m64*>(p));
    if constexpr (C == 1) return _mm_load_ss(p);
  }
  template <int C>
  [[gnu::always_inline]] static void store(float* p, __m128 v) {
    if constexpr (C == 4) _mm_storeu_ps(p, v);
    if constexpr (C == 2) _mm_storel_pi(reinterpret_cast<__m64*>(p), v);
    if constexpr (C == 1) _mm_store_ss(p, v);
  }
};

}  // namespace trireme::ops::dense_passes
