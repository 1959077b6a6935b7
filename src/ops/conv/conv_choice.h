// Decides which algorithm computes a convolution: direct (oneDNN), Winograd, Toom-Cook, small map or narrow. Functions
// of its shape, the instruction set and the kernel table, so that every run and every rank decides alike. Thread-safe.
#pragma once

#include <string>

#include "base/cpu/simd.h"
#include "ops/conv/geometry/conv_options.h"
#include "ops/conv/geometry/conv_shape.h"
#include "ops/core/op.h"

namespace trireme::ops {

// The names of the algorithms, as in the kernel table.
inline constexpr const char *kDirect = "direct", *kNarrow = "narrow", *kWinograd = "winograd";
inline constexpr const char *kSmallMap = "small map", *kToomCook = "toom-cook";

// The algorithms that can compute this convolution, the preferred one first. src and dst include the batch.
KernelChoices conv_choices(const ConvOptions& options, const Shape& src, const Shape& dst, base::Isa isa);

// The one that computes it: what the options name, else the kernel table's, else the preferred one.
std::string choose_algorithm(const ConvOptions& options, const KernelRequest& request, const KernelChoices& possible);

// Whether there is a Winograd kernel for this shape.
bool winograd_fits(const ConvShape& shape, base::Isa isa);
// The faster one of Winograd and direct.
ConvAlgorithm winograd_or_direct(const ConvShape& shape, base::Isa isa);

}  // namespace trireme::ops
