// Reference implementation of add and concatenation in double. Thread-safe.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

void add_reference_forward(Reference& r);
void add_reference_backward(Reference& r);
void concat_reference_forward(Reference& r);
void concat_reference_backward(Reference& r);

}  // namespace trireme::ops
