// The convolution kernel over the Winograd passes: 3 x 3, stride 1, one group, channels in blocks.
#pragma once

#include <memory>

#include "base/cpu/simd.h"
#include "ops/core/op.h"

namespace trireme::ops {

struct WinogradSetup {
  Shape out;           // batch included
  Shape weight_shape;  // O x I x 3 x 3
  std::int64_t pad_top = 0, pad_left = 0;
  bool bias = false;
  bool relu = false;
};

// The channels of a vector, hence the block of the activations, on an instruction set.
std::int64_t winograd_block(base::Isa isa);

// REQUIRES: the input channels are multiples of the block, the output channels too unless there is no bias (their last
// block is then padded); request.threads is 1.
std::unique_ptr<Kernel> make_winograd(const KernelRequest& request, const WinogradSetup& setup, base::Isa isa);

}  // namespace trireme::ops
