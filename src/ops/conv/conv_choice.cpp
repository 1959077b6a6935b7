#include "ops/conv/conv_choice.h"

#include "ops/conv/winograd/winograd.h"

namespace trireme::ops {
namespace {

// The cost in vector multiply-adds per input channel and vector of output channels, the same for all three directions:
// 36 per tile; about 360 for the transforms of a tile, which all channels of the other side share; about 200 for the
// transform of the filter. Measured on Zen 4 against oneDNN's direct kernels (docs/design/004-winograd.md).
double winograd_cost(const ConvShape& s) {
  const std::int64_t rows = (s.out[0] + 3) / 4, columns = (s.out[1] + 3) / 4;
  const auto tiles = static_cast<double>(s.samples * rows * columns);
  // A partial vector of output channels costs as much as a whole one.
  const std::int64_t out_channels = (s.out_channels + base::kLanes - 1) / base::kLanes * base::kLanes;
  const double shared = 1 / static_cast<double>(s.in_channels) + 1 / static_cast<double>(out_channels);
  return tiles * (36 + 360 * shared) + 200;
}

}  // namespace

bool winograd_fits(const ConvShape& s, base::Isa isa) {
  using Pair = std::array<std::int64_t, 2>;
  const std::int64_t block = winograd_block(isa);
  return s.kernel == Pair{3, 3} && s.stride == Pair{1, 1} && s.groups == 1 && s.in_channels % block == 0 &&
         (s.out_channels % block == 0 || !s.bias);
}

ConvAlgorithm conv_algorithm(const ConvShape& s, base::Isa isa) {
  if (isa == base::Isa::generic || !winograd_fits(s, isa)) return ConvAlgorithm::direct;
  const auto direct = static_cast<double>(s.samples * products_inside(s.in[0], s.out[0], 3, s.padding[0]) *
                                          products_inside(s.in[1], s.out[1], 3, s.padding[1]));
  return winograd_cost(s) < direct ? ConvAlgorithm::winograd : ConvAlgorithm::direct;
}

}  // namespace trireme::ops
