// ConvShape: the sizes of a convolution for one oar, and how many products it takes. Thread-safe.
#pragma once

#include <array>
#include <cstdint>

namespace trireme::ops {

// A convolution of one oar over two spatial sizes. Pairs are height and width.
struct ConvShape {
  std::int64_t samples = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<std::int64_t, 2> in{}, out{}, kernel{}, stride{}, padding{};
  bool bias = false;
};

// The products of the direct algorithm along one spatial size with stride 1: pairs of an output and a kernel position
// whose input lies inside the map.
std::int64_t products_inside(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding);

}  // namespace trireme::ops
