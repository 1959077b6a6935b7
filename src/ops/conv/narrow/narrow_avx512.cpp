// The passes of the convolution with few channels for AVX-512.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 is wrong about its own AVX-512 header
#include <immintrin.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <utility>

#include "ops/conv/narrow/narrow_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/conv/narrow/narrow_channels.h"
#include "ops/conv/narrow/narrow_columns.h"
#include "ops/conv/narrow/narrow_patches.h"

namespace trireme::ops::narrow {
namespace {

struct Avx512 {
  static constexpr int kWidth = 16;
  static constexpr int kSums = 24, kChannels = 6, kVectors = 8;
  static constexpr int kGradientChannels = 6, kGradientTaps = 4;
  static constexpr int kColumns = 12, kTapSums = 28;
  using Vector = __m512;

  [[gnu::always_inline]] static Vector load(const float* p) { return _mm512_loadu_ps(p); }
  // Keeps the value in a register; otherwise GCC loads it again for each use.
  [[gnu::always_inline]] static Vector held(Vector v) {
    asm("" : "+v"(v));
    return v;
  }
  [[gnu::always_inline]] static void store(float* p, Vector v) { _mm512_storeu_ps(p, v); }
  [[gnu::always_inline]] static void store_part(float* p, Vector v, std::int64_t count) {
    _mm512_mask_storeu_ps(p, static_cast<__mmask16>((1u << count) - 1), v);
  }
  [[gnu::always_inline]] static Vector splat(float x) { return _mm512_set1_ps(x); }
  [[gnu::always_inline]] static Vector fma(Vector a, Vector b, Vector c) { return _mm512_fmadd_ps(a, b, c); }
  // max returns its second operand when one is a NaN, so NaN stays NaN.
  [[gnu::always_inline]] static Vector positive_part(Vector x) { return _mm512_max_ps(Vector{}, x); }
};

}  // namespace

const Passes kAvx512Passes{ColumnSet<Avx512>::passes(), ChannelSet<Avx512>::passes(), PatchSet<Avx512>::passes()};

}  // namespace trireme::ops::narrow
