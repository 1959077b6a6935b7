// Chooses between Winograd and oneDNN's direct kernels for a convolution. Pure functions of its shape and the
// instruction set, so that every run and every rank gets the same answer. Thread-safe.
#pragma once

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/conv/geometry/conv_shape.h"

namespace trireme::ops {

// Whether there is a Winograd kernel for this shape.
bool winograd_fits(const ConvShape& shape, base::Isa isa);

ConvAlgorithm conv_algorithm(const ConvShape& shape, base::Isa isa);

}  // namespace trireme::ops
