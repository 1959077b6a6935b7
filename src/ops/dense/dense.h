// Dense (fully connected) layer: src N x I, weight O x I, dst N x O.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

struct DenseOptions {
  std::int64_t outputs = 0;
  bool bias = true;
  bool relu = false;  // folded in by the fusion pass
};

OpPtr dense(DenseOptions options);
OpRow dense_row();

}  // namespace trireme::ops
