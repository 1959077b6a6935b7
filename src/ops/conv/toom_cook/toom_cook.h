// The Toom-Cook convolution: our kernel over one spatial size with stride 1, one group and channels in blocks.
// Thread-safe.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether the kernel supports this convolution: 3 to 64 taps, padding smaller than the kernel, channels in whole
// blocks, and at most 4 MB of transformed filters.
// REQUIRES, here and below: `options` with a stride and a padding for each kernel size.
bool toom_cook_fits(const ConvOptions& options, const Shape& src, base::Isa isa);

// Whether a convolution gets the Toom-Cook kernel: a pure function of its shape and the instruction set.
// REQUIRES: toom_cook_fits(options, src, isa).
bool toom_cook_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: toom_cook_fits(options, request.src[0].shape, base::active_isa()).
std::unique_ptr<Kernel> make_toom_cook(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
