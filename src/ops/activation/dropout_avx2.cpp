// The loops of dropout for AVX2.
#include <immintrin.h>

#include <algorithm>

#include "ops/activation/dropout_passes.h"

#pragma GCC target("avx2,fma")

namespace trireme::ops::dropping {
namespace {

// a * b modulo 2^64 in each of four lanes; `b` is a constant.
[[gnu::always_inline]] inline __m256i multiply(__m256i a, std::uint64_t b) {
  const __m256i low = _mm256_set1_epi64x(static_cast<long long>(b & 0xffffffffu));
  const __m256i high = _mm256_set1_epi64x(static_cast<long long>(b >> 32));
  const __m256i crossed = _mm256_add_epi64(_mm256_mul_epu32(_mm256_srli_epi64(a, 32), low), _mm256_mul_epu32(a, high));
  return _mm256_add_epi64(_mm256_mul_epu32(a, low), _mm256_slli_epi64(crossed, 32));
}

// Compares four results of base::mix64() with the threshold. The last step of mix64() does not change the top 31 bits
// and is left out. AVX2 compares signed numbers, so the sign bit is flipped on both sides.
[[gnu::always_inline]] inline __m256i dropped(__m256i counter, __m256i flipped_least) {
  const __m256i sign = _mm256_set1_epi64x(static_cast<long long>(1ull << 63));
  __m256i z = multiply(_mm256_xor_si256(counter, _mm256_srli_epi64(counter, 30)), 0xBF58476D1CE4E5B9ull);
  z = multiply(_mm256_xor_si256(z, _mm256_srli_epi64(z, 27)), 0x94D049BB133111EBull);
  return _mm256_cmpgt_epi64(flipped_least, _mm256_xor_si256(z, sign));
}

// The drop mask of eight elements: all bits set in the lanes that are dropped.
[[gnu::always_inline]] inline __m256 dropped_eight(__m256i start, const std::uint64_t* offsets, __m256i flipped_least) {
  const auto* from = reinterpret_cast<const __m256i*>(offsets);
  const __m256i low = dropped(_mm256_add_epi64(start, _mm256_loadu_si256(from)), flipped_least);
  const __m256i high = dropped(_mm256_add_epi64(start, _mm256_loadu_si256(from + 1)), flipped_least);
  const __m256 halves = _mm256_shuffle_ps(_mm256_castsi256_ps(low), _mm256_castsi256_ps(high), 0x88);
  return _mm256_castpd_ps(_mm256_permute4x64_pd(_mm256_castps_pd(halves), 0xd8));
}

// The remaining elements of the last, partial word, one by one.
void apply_rest(unsigned bits, std::int64_t left, float scale, const float* src, float* dst) {
  for (std::int64_t k = 0; k < left; ++k) dst[k] = (bits >> k & 1) != 0 ? src[k] * scale : 0.0f;
}

void forward(Counters c, std::uint64_t threshold, std::int64_t count, float scale, const float* src,
             std::uint16_t* mask, float* dst) {
  const __m256i least = _mm256_set1_epi64x(static_cast<long long>(threshold << 40 ^ 1ull << 63));
  const __m256 factor = _mm256_set1_ps(scale);
  for (std::int64_t row = 0; row < count; row += c.period, c.start += c.step) {
    const __m256i start = _mm256_set1_epi64x(static_cast<long long>(c.start));
    const std::int64_t end = std::min(c.period, count - row);
    for (std::int64_t at = 0; at < end; at += 16) {
      const __m256 low = dropped_eight(start, c.offsets + at, least);
      const __m256 high = dropped_eight(start, c.offsets + at + 8, least);
      const auto fallen = static_cast<unsigned>(_mm256_movemask_ps(low) | _mm256_movemask_ps(high) << 8);
      const std::int64_t i = row + at;
      mask[i / 16] = static_cast<std::uint16_t>(~fallen);
      if (count - i < 16) return apply_rest(~fallen, count - i, scale, src + i, dst + i);
      _mm256_storeu_ps(dst + i, _mm256_andnot_ps(low, _mm256_mul_ps(_mm256_loadu_ps(src + i), factor)));
      _mm256_storeu_ps(dst + i + 8, _mm256_andnot_ps(high, _mm256_mul_ps(_mm256_loadu_ps(src + i + 8), factor)));
    }
  }
}

void apply(const std::uint16_t* mask, std::int64_t count, float scale, const float* src, float* dst) {
  const __m256 factor = _mm256_set1_ps(scale);
  const __m256i low = _mm256_setr_epi32(1, 2, 4, 8, 16, 32, 64, 128), high = _mm256_slli_epi32(low, 8);
  const auto eight = [&](__m256i word, __m256i places, std::int64_t i) {
    const __m256 kept = _mm256_castsi256_ps(_mm256_cmpeq_epi32(_mm256_and_si256(word, places), places));
    _mm256_storeu_ps(dst + i, _mm256_and_ps(kept, _mm256_mul_ps(_mm256_loadu_ps(src + i), factor)));
  };
  std::int64_t i = 0;
  for (; count - i >= 16; i += 16) {
    const __m256i word = _mm256_set1_epi32(mask[i / 16]);
    eight(word, low, i);
    eight(word, high, i + 8);
  }
  if (i < count) apply_rest(mask[i / 16], count - i, scale, src + i, dst + i);
}

}  // namespace

const Passes kAvx2Passes{&forward, &apply};

}  // namespace trireme::ops::dropping
