// Which algorithm a convolution gets: a pure function of its shape and the instruction set, so that it is the same on
// every run and every rank.
#pragma once

#include <cstdint>

#include "base/simd.h"

namespace trireme::ops {

enum class ConvAlgorithm {
  direct,    // oneDNN's
  winograd,  // own, F(4x4, 3x3)
};

// A convolution over two spatial sizes, as one oar sees it.
struct ConvShape {
  std::int64_t samples = 0;
  std::int64_t in_channels = 0, out_channels = 0, groups = 1;
  std::int64_t out_height = 0, out_width = 0;
  std::int64_t kernel_height = 0, kernel_width = 0;
  std::int64_t stride_height = 1, stride_width = 1;
};

// Whether there is a Winograd kernel for it at all.
bool winograd_fits(const ConvShape& shape, base::Isa isa);

ConvAlgorithm conv_algorithm(const ConvShape& shape, base::Isa isa);

}  // namespace trireme::ops
