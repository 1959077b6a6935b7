// Batch norm over dimension 1 with statistics per oar; optionally fused: dst = relu(norm(src[0]) + src[1]).
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the new statistics, as in PyTorch
  bool relu = false;      // folded in by the fusion pass
  bool add = false;       // likewise: src[1] is added before the ReLU
};

OpPtr batch_norm(BatchNormOptions options = {});
OpRow batch_norm_row();
// The options of a batch norm, or null for other ops.
const BatchNormOptions* batch_norm_options(const Op& op);

}  // namespace trireme::ops
