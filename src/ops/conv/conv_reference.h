// Reference implementation of one- and two-dimensional convolution in double; a missing height counts as 1.
// Thread-safe.
#pragma once

#include "ops/conv/conv.h"

namespace trireme::ops {

void conv_reference_forward(const ConvOptions& options, const Shape& out, Reference& r);
void conv_reference_backward(const ConvOptions& options, const Shape& out, Reference& r);

}  // namespace trireme::ops
