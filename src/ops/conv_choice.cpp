#include "ops/conv_choice.h"

#include "ops/winograd.h"

namespace trireme::ops {

bool winograd_fits(const ConvShape& shape, base::Isa isa) {
  const std::int64_t block = winograd_block(isa);
  return shape.kernel_height == 3 && shape.kernel_width == 3 && shape.stride_height == 1 && shape.stride_width == 1 &&
         shape.groups == 1 && shape.in_channels % block == 0 && shape.out_channels % block == 0;
}

// Measured on Zen 4: on maps of 3 x 3 and more Winograd is 1.3 to 3.3 times as fast in a training step; on smaller ones
// most of a tile is waste.
ConvAlgorithm conv_algorithm(const ConvShape& shape, base::Isa isa) {
  const bool wins =
      isa != base::Isa::generic && winograd_fits(shape, isa) && shape.out_height >= 3 && shape.out_width >= 3;
  return wins ? ConvAlgorithm::winograd : ConvAlgorithm::direct;
}

}  // namespace trireme::ops
