#include "ops/conv/direct/bias_gradient.h"

#include <algorithm>

#include "base/cpu/simd.h"

namespace trireme::ops {
namespace {

using base::Lanes;
constexpr std::int64_t kLanes = base::kLanes;
constexpr int kChains = 4;  // independent sums, which hide the latency of an addition

template <bool kRelu>
struct SumRun {
  // Adds `count` floats to sums, element i to lane i % 16 of chain i / 16 % kChains.
  TRIREME_INLINE static void run(float* diff, const float* dst, std::int64_t count, Lanes* sums) {
    Lanes held[kChains];
    for (int k = 0; k < kChains; ++k) held[k] = sums[k];
    const std::int64_t steps = count / (kChains * kLanes);
    for (std::int64_t s = 0; s < steps; ++s)
      for (std::int64_t k = 0; k < kChains; ++k) {
        const std::int64_t at = (s * kChains + k) * kLanes;
        Lanes gradient = base::load(diff + at);
        if constexpr (kRelu) {
          gradient = base::load(dst + at) > 0.0f ? gradient : Lanes{};
          base::store(diff + at, gradient);
        }
        held[k] += gradient;
      }
    std::int64_t at = steps * kChains * kLanes;
    for (int k = 0; at < count; ++k, at += kLanes) {
      const auto part = static_cast<int>(std::min(count - at, kLanes));
      Lanes gradient = base::load_part(diff + at, part);
      if constexpr (kRelu) {
        gradient = base::load_part(dst + at, part) > 0.0f ? gradient : Lanes{};
        base::store_part(diff + at, gradient, part);
      }
      held[k] += gradient;
    }
    for (int k = 0; k < kChains; ++k) sums[k] = held[k];
  }
};

}  // namespace

bool bias_gradient_fits(const tensor::Layout& dst) {
  const std::int64_t block = dst.channel_block();
  return dst.shape.rank() > 2 && !dst.inner.empty() && (block == 8 || block == 16);
}

void bias_gradient(const tensor::Layout& layout, float* diff_dst, const float* dst, float* bias) {
  const std::int64_t block = layout.inner[0].size, channels = layout.shape[1];
  const std::int64_t blocks = (channels + block - 1) / block, run = layout.shape.count_from(2) * block;
  for (std::int64_t b = 0; b < blocks; ++b) {
    Lanes sums[kChains] = {};
    for (std::int64_t n = 0; n < layout.shape[0]; ++n) {
      float* diff = diff_dst + (n * blocks + b) * run;
      if (dst != nullptr)
        base::dispatch<SumRun<true>>(diff, dst + (n * blocks + b) * run, run, sums);
      else
        base::dispatch<SumRun<false>>(diff, static_cast<const float*>(nullptr), run, sums);
    }
    float all[kLanes];
    base::store(all, (sums[0] + sums[1]) + (sums[2] + sums[3]));
    for (std::int64_t c = 0; c < std::min(block, channels - b * block); ++c)
      bias[b * block + c] = block == 8 ? all[c] + all[c + 8] : all[c];
  }
}

}  // namespace trireme::ops
