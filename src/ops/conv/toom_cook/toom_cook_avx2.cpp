// The Toom-Cook passes for AVX2.
#include <immintrin.h>

#include <cstdint>
#include <utility>

#include "ops/conv/toom_cook/toom_cook_passes.h"

#pragma GCC target("avx2,fma")

#include "ops/conv/toom_cook/toom_cook_set.h"
#include "ops/vector/block_vectors_avx2.h"

namespace trireme::ops::toom_cook {
namespace {

struct Avx2 : BlockVectorsAvx2 {
  static constexpr int kTileRows = 12, kChannelRows = 4;
};

}  // namespace

const Passes kAvx2Passes = set_of<Avx2>();

}  // namespace trireme::ops::toom_cook
