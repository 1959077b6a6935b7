// Which algorithm a convolution gets: a pure function of its shape and the instruction set, so that it is the same on
// every run and every rank.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/conv/geometry/conv_shape.h"

namespace trireme::ops {

// Whether there is a Winograd kernel for it at all.
bool winograd_fits(const ConvShape& shape, base::Isa isa);

ConvAlgorithm conv_algorithm(const ConvShape& shape, base::Isa isa);

}  // namespace trireme::ops
