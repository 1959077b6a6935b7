// make_winograd(): the Winograd convolution kernel for 3 x 3, stride 1, one group, channels in blocks. Thread-safe.
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

// The channels of a vector, which is also the block of the activations, for an instruction set.
std::int64_t winograd_block(base::Isa isa);

// REQUIRES: the input channels are a multiple of the block, and with a bias the output channels too (without one their
// last block is padded); request.threads is 1.
std::unique_ptr<Kernel> make_winograd(const KernelRequest& request, const WinogradSetup& setup, base::Isa isa);

}  // namespace trireme::ops
