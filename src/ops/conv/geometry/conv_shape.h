// The sizes of a convolution as one oar sees it, and how many products they ask for.
#pragma once

#include <array>
#include <cstdint>

namespace trireme::ops {

// A convolution over two spatial sizes, as one oar sees it. Pairs are height and width.
struct ConvShape {
  std::int64_t samples = 0, in_channels = 0, out_channels = 0, groups = 1;
  std::array<std::int64_t, 2> in{}, out{}, kernel{}, stride{}, padding{};
  bool bias = false;
};

// Along one spatial size with stride 1, pairs of an output and a kernel's place whose input lies inside the map: what
// the direct algorithm multiplies.
std::int64_t products_inside(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding);

}  // namespace trireme::ops
