// Reference implementation of the dense layer in double. Thread-safe.
#pragma once

#include "ops/dense/dense.h"

namespace trireme::ops {

void dense_reference_forward(const DenseOptions& options, Reference& r);
void dense_reference_backward(const DenseOptions& options, Reference& r);

}  // namespace trireme::ops
