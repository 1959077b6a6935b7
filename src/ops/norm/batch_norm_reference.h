// Reference implementation of batch norm in double. Thread-safe.
#pragma once

#include "ops/norm/batch_norm.h"

namespace trireme::ops {

void batch_norm_reference_forward(const BatchNormOptions& options, Reference& r);
void batch_norm_reference_backward(const BatchNormOptions& options, Reference& r);

}  // namespace trireme::ops
