// Own convolution over maps of few positions (the last stages of a ResNet on small images), where most of a kernel lies
// outside the map: products of samples by channels for what lies inside.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether there is such a kernel for it at all. `options` are complete (a stride and padding for each kernel size),
// here and below.
bool small_map_conv_fits(const ConvOptions& options, const Shape& src, const Shape& out);

// Whether it is the fastest: a pure function of its shape and the instruction set, whatever the number of samples.
bool small_map_conv_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: small_map_conv_fits(options, src, out).
std::unique_ptr<Kernel> make_small_map_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
