// The loops of dropout for AVX-512.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 is wrong about its own AVX-512 header
#include <immintrin.h>

#include <algorithm>

#include "ops/activation/dropout_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

namespace trireme::ops::dropping {
namespace {

// Compares eight results of base::mix64() with the threshold. The last step of mix64() does not change the top 31 bits
// and is left out.
[[gnu::always_inline]] inline __mmask8 kept(__m512i counter, __m512i least) {
  const __m512i first = _mm512_set1_epi64(static_cast<long long>(0xBF58476D1CE4E5B9ull));
  const __m512i second = _mm512_set1_epi64(static_cast<long long>(0x94D049BB133111EBull));
  __m512i z = _mm512_mullo_epi64(_mm512_xor_si512(counter, _mm512_srli_epi64(counter, 30)), first);
  z = _mm512_mullo_epi64(_mm512_xor_si512(z, _mm512_srli_epi64(z, 27)), second);
  return _mm512_cmpge_epu64_mask(z, least);
}

[[gnu::always_inline]] inline void apply_sixteen(__mmask16 bits, std::int64_t left, __m512 scale, const float* src,
                                                 float* dst) {
  if (left >= 16) {
    _mm512_storeu_ps(dst, _mm512_maskz_mul_ps(bits, _mm512_loadu_ps(src), scale));
    return;
  }
  const auto there = static_cast<__mmask16>((1u << left) - 1);
  _mm512_mask_storeu_ps(dst, there, _mm512_maskz_mul_ps(bits, _mm512_maskz_loadu_ps(there, src), scale));
}

void forward(Counters c, std::uint64_t threshold, std::int64_t count, float scale, const float* src,
             std::uint16_t* mask, float* dst) {
  const std::uint64_t shifted = threshold << 40;
  const __m512i least = _mm512_set1_epi64(static_cast<long long>(shifted));
  const __m512 factor = _mm512_set1_ps(scale);
  for (std::int64_t row = 0; row < count; row += c.period, c.start += c.step) {
    const __m512i start = _mm512_set1_epi64(static_cast<long long>(c.start));
    const std::int64_t end = std::min(c.period, count - row);
    for (std::int64_t at = 0; at < end; at += 16) {
      const __m512i low = _mm512_add_epi64(start, _mm512_loadu_si512(c.offsets + at));
      const __m512i high = _mm512_add_epi64(start, _mm512_loadu_si512(c.offsets + at + 8));
      const __mmask16 bits = _mm512_kunpackb(kept(high, least), kept(low, least));
      const std::int64_t i = row + at;
      mask[i / 16] = bits;
      apply_sixteen(bits, count - i, factor, src + i, dst + i);
    }
  }
}

void apply(const std::uint16_t* mask, std::int64_t count, float scale, const float* src, float* dst) {
  const __m512 factor = _mm512_set1_ps(scale);
  for (std::int64_t i = 0; i < count; i += 16) apply_sixteen(mask[i / 16], count - i, factor, src + i, dst + i);
}

}  // namespace

const Passes kAvx512Passes{&forward, &apply};

}  // namespace trireme::ops::dropping
