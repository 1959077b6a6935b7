// Pooling over one or two spatial sizes.
#pragma once

#include <vector>

#include "ops/core/op.h"

namespace trireme::ops {

enum class PoolKind { max, average };

struct PoolOptions {
  std::vector<std::int64_t> kernel;
  std::vector<std::int64_t> stride{};   // default: the kernel
  std::vector<std::int64_t> padding{};  // default 0
  bool count_padding = true;            // average: padded zeros count in the divisor (PyTorch's default)
  bool relu = false;                    // maximum: a ReLU of the result, which equals the maximum of ReLUs
};

OpPtr max_pool(PoolOptions options);
OpPtr average_pool(PoolOptions options);
// Mean or maximum over all spatial positions; the spatial sizes become 1.
OpPtr global_average_pool();
OpPtr global_max_pool();
// PyTorch's adaptive average: output i covers floor(i*in/out) ... ceil((i+1)*in/out)-1 in each dimension.
OpPtr adaptive_average_pool(std::vector<std::int64_t> output);

// With kernel=all the first two rows make the global pools.
OpRow max_pool_row();
OpRow average_pool_row();
OpRow adaptive_average_pool_row();

}  // namespace trireme::ops
