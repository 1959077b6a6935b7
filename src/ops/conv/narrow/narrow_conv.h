// Own convolution for few channels (LeNet, the last layers of a decoder): of the vectors of channels that oneDNN works
// on, most would be padding.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether the narrow kernel can do it at all: stride 1, one group, padding below the kernel's size. `options` are
// complete (a stride and padding for each kernel size), here and below.
bool narrow_conv_fits(const ConvOptions& options);

// Whether a convolution gets the narrow kernel: a pure function of its shape and the instruction set, whatever the
// number of samples.
bool narrow_conv_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: narrow_conv_fits(options).
std::unique_ptr<Kernel> make_narrow_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
