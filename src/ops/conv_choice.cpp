#include "ops/conv_choice.h"

#include "ops/winograd.h"

namespace trireme::ops {

bool winograd_fits(const ConvShape& shape, base::Isa isa) {
  const std::int64_t block = winograd_block(isa);
  return shape.kernel_height == 3 && shape.kernel_width == 3 && shape.stride_height == 1 && shape.stride_width == 1 &&
         shape.groups == 1 && shape.in_channels % block == 0 && shape.out_channels % block == 0;
}

ConvAlgorithm conv_algorithm(const ConvShape&, base::Isa) { return ConvAlgorithm::direct; }

}  // namespace trireme::ops
