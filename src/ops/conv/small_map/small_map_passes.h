// The passes of the convolution over maps of few positions, one set per instruction set, and the memory they work on.
// Pure functions on the caller's memory; thread-safe.
//
// On a map of 2 x 2 or 1 x 1 most of a kernel lies outside the map. What is left is a product of matrices, samples by
// channels, for each link: an output position, an input position and the tap between them. Taps outside the map cost
// nothing, and weights are multiplied by all samples while they are in cache.
//
// Orders are fixed: an output sums over its links in their order and over input channels, a weight's gradient over its
// links and samples, one after the other with fma; an input's gradient sums over its links and output channels in
// sixteen lanes, which are then added as in base::sum(). The bits do not depend on the instruction set.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::small_map {

inline constexpr std::int64_t kPanel = 64;  // contiguous output channels in the weights

// Activations lie as [samples][channels / block][positions][block], weights as [out / kPanel][tap][in][kPanel].
struct Sizes {
  std::int64_t samples = 0;
  std::int64_t in_channels = 0, out_channels = 0;  // multiples of sixteen and of kPanel
  std::int64_t in_positions = 0, out_positions = 0;
  std::int64_t taps = 0;
};

struct TapLink {
  std::int64_t in = 0, out = 0, tap = 0;
};
struct TapLinks {
  const TapLink* first = nullptr;
  const TapLink* last = nullptr;  // one past the end
  const TapLink* begin() const { return first; }
  const TapLink* end() const { return last; }
};

struct Passes {
  std::int64_t block = 0;
  // dst = bias + sum over links and input channels, then max(., 0) if `relu`. `links` has an entry per output position.
  void (*forward)(const Sizes&, const TapLinks* links, const float* src, const float* weights, const float* bias,
                  bool relu, float* dst);
  // `links` has an entry per input position.
  void (*backward_data)(const Sizes&, const TapLinks* links, const float* diff_dst, const float* weights,
                        float* diff_src);
  // `links` has an entry per tap; the gradient of a tap without links is zero.
  void (*backward_weights)(const Sizes&, const TapLinks* links, const float* src, const float* diff_dst,
                           float* diff_weights);
};

const Passes& passes(base::Isa isa);

// The single sets. REQUIRES: a CPU with that instruction set.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::small_map
