#include "ops/vector/relu_mask.h"

#include "base/cpu/simd.h"

namespace trireme::ops {
namespace {

struct ReluInPlace {
  TRIREME_INLINE static void run(float* dst, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) dst[i] = dst[i] < 0 ? 0.0f : dst[i];
  }
};

struct ReluMask {
  TRIREME_INLINE static void run(float* diff_dst, const float* dst, std::int64_t count) {
    for (std::int64_t i = 0; i < count; ++i) diff_dst[i] = dst[i] > 0 ? diff_dst[i] : 0.0f;
  }
};

}  // namespace

void relu_in_place(float* dst, std::int64_t count) { base::dispatch<ReluInPlace>(dst, count); }

void relu_mask(float* diff_dst, const float* dst, std::int64_t count) {
  base::dispatch<ReluMask>(diff_dst, dst, count);
}

}  // namespace trireme::ops
