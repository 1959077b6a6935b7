// Own convolution over one spatial size by the algorithm of Toom and Cook: stride 1, one group, channels in blocks.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether there is such a kernel: 3 to 64 taps, padding below the kernel's size, channels in whole blocks and not so
// many that transformed filters take more than 4 MB. `options` are complete (a stride and padding for each kernel
// size), here and below.
bool toom_cook_fits(const ConvOptions& options, const Shape& src, base::Isa isa);

// Whether a convolution gets it: a pure function of its shape and the instruction set.
// REQUIRES: toom_cook_fits(options, src, isa).
bool toom_cook_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: toom_cook_fits(options, request.src[0].shape, base::active_isa()).
std::unique_ptr<Kernel> make_toom_cook(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
