// Which algorithm a convolution gets: a pure function of its shape and the instruction set, so that it is the same on
// every run and every rank.
#pragma once

#include <array>
#include <cstdint>

#include "base/cpu/simd.h"

namespace trireme::ops {

enum class ConvAlgorithm {
  direct,    // oneDNN's
  winograd,  // own, F(4x4, 3x3)
};

// A convolution over two spatial sizes, as one oar sees it. Pairs are height and width.
struct ConvShape {
  std::int64_t samples = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<std::int64_t, 2> in{}, out{}, kernel{}, stride{}, padding{};
  bool bias = false;
};

// Along one spatial size with stride 1, pairs of an output and a kernel's place whose input lies inside the map: what
// the direct algorithm multiplies.
std::int64_t products_inside(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding);

// Whether there is a Winograd kernel for it at all.
bool winograd_fits(const ConvShape& shape, base::Isa isa);

ConvAlgorithm conv_algorithm(const ConvShape& shape, base::Isa isa);

}  // namespace trireme::ops
