// The Toom-Cook passes for AVX-512.
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 is wrong about its own AVX-512 header
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "ops/conv/toom_cook/toom_cook_passes.h"

#pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw,avx2,fma")

#include "ops/conv/toom_cook/toom_cook_set.h"
#include "ops/vector/block_vectors_avx512.h"

namespace trireme::ops::toom_cook {
namespace {

struct Avx512 : BlockVectorsAvx512 {
  static constexpr int kTileRows = 28, kChannelRows = 8;
};

}  // namespace

const Passes kAvx512Passes = set_of<Avx512>();

}  // namespace trireme::ops::toom_cook
