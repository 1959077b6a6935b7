// Batch norm over dimension 1, statistics per oar; optionally fused: dst = relu(norm(src[0]) + src[1]).
#pragma once

#include "ops/op.h"

namespace trireme::ops {

struct BatchNormOptions {
  double epsilon = 1e-5;
  double momentum = 0.1;  // weight of the new statistics, as in PyTorch
  bool relu = false;      // folded in by the fusion pass
  bool add = false;       // likewise: src[1] is added before the ReLU
};

OpPtr batch_norm(BatchNormOptions options = {});
// The momentum with which this op's running statistics move, or 0 for other ops.
double statistics_momentum(const Op& op);

}  // namespace trireme::ops
