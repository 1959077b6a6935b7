// The narrow convolution: our kernel for few channels (LeNet, the last layers of a decoder), where oneDNN's vectors of
// channels would be mostly padding. Thread-safe.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether the narrow kernel supports the options: stride 1, one group, padding smaller than the kernel.
// REQUIRES, here and below: `options` with a stride and a padding for each kernel size.
bool narrow_conv_fits(const ConvOptions& options);

// Whether a convolution gets the narrow kernel: a pure function of its shape and the instruction set; it does not
// depend on the number of samples.
bool narrow_conv_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: narrow_conv_fits(options).
std::unique_ptr<Kernel> make_narrow_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
