// The passes of the convolution over maps of few positions, one set per instruction set, and the memory they work on.
//
// On a map of 2 x 2 or 1 x 1 most of a kernel lies outside. What is left is a product of matrices, samples by channels,
// for each link: an output position, an input position and the tap between them. Links that do not exist cost nothing,
// and weights are multiplied by all samples while they are near.
//
// Orders are fixed: an output sums over its links in their order and over input channels, a weight's gradient over its
// links and samples, one after the other with fma; an input's gradient over its links and output channels in sixteen
// lanes, which are then added as base::sum() does. Bits do not depend on the instruction set. Pure functions on the
// caller's memory; any thread.
#pragma once

#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops::small_map {

inline constexpr std::int64_t kPanel = 64;  // output channels that lie together in the weights

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
  // dst = bias + sum over links and input channels; then max(., 0) if asked. `links` is an array per output position.
  void (*forward)(const Sizes&, const TapLinks* links, const float* src, const float* weights, const float* bias,
                  bool relu, float* dst);
  // `links` is an array per input position.
  void (*backward_data)(const Sizes&, const TapLinks* links, const float* diff_dst, const float* weights,
                        float* diff_src);
  // `links` is an array per tap; a tap without links gets zeros.
  void (*backward_weights)(const Sizes&, const TapLinks* links, const float* src, const float* diff_dst,
                           float* diff_weights);
};

const Passes& passes(base::Isa isa);

// The sets by themselves: each may run only on a CPU that has it.
extern const Passes kGenericPasses, kAvx2Passes, kAvx512Passes;

}  // namespace trireme::ops::small_map
