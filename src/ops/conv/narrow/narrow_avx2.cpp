// The passes of the convolution with few channels for AVX2.
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <utility>

#include "ops/conv/narrow/narrow_passes.h"

#pragma GCC target("avx2,fma")

#include "ops/conv/narrow/narrow_channels.h"
#include "ops/conv/narrow/narrow_columns.h"
#include "ops/conv/narrow/narrow_patches.h"

namespace trireme::ops::narrow {
namespace {

struct Avx2 {
  static constexpr int kWidth = 8;
  static constexpr int kSums = 12, kChannels = 6, kVectors = 6;
  static constexpr int kGradientChannels = 2, kGradientTaps = 5;
  static constexpr int kColumns = 6, kTapSums = 12;
  using Vector = __m256;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm256_loadu_ps(p); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+x"(v));
    return v;
  }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm256_storeu_ps(p, v); }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, std::int64_t count) {
    if (count == kWidth) return store(p, v);
    std::memcpy(p, &v, static_cast<std::size_t>(count) * sizeof(float));
  }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm256_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm256_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm256_max_ps(Vector{}, x); }
};

}  // namespace

const Passes kAvx2Passes{ColumnSet<Avx2>::passes(), ChannelSet<Avx2>::passes(), PatchSet<Avx2>::passes()};

}  // namespace trireme::ops::narrow
