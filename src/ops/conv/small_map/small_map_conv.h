// The small-map convolution: our kernel for maps of few positions (the last stages of a ResNet on small images), where
// most of a convolution kernel lies outside the map. It multiplies matrices, samples by channels, for the part inside.
// Thread-safe.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

// Whether the small-map kernel supports this convolution.
// REQUIRES, here and below: `options` with a stride and a padding for each kernel size.
bool small_map_conv_fits(const ConvOptions& options, const Shape& src, const Shape& out);

// Whether it is the fastest kernel: a pure function of the shape and the instruction set; it does not depend on the
// number of samples.
bool small_map_conv_wins(const ConvOptions& options, const Shape& src, const Shape& out, base::Isa isa);

// REQUIRES: small_map_conv_fits(options, src, out).
std::unique_ptr<Kernel> make_small_map_conv(const KernelRequest& request, const ConvOptions& options, const Shape& out);

}  // namespace trireme::ops
