// Reference implementation of one- and two-dimensional pooling in double. Thread-safe.
#pragma once

#include "ops/pool/pool.h"

namespace trireme::ops {

void pool_reference_forward(PoolKind kind, const PoolOptions& options, const Shape& out, Reference& r);
void pool_reference_backward(PoolKind kind, const PoolOptions& options, const Shape& out, Reference& r);

}  // namespace trireme::ops
