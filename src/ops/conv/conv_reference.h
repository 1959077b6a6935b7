// The plain convolution in double, one- and two-dimensional (a missing height counts as 1).
#pragma once

#include "ops/conv/conv.h"

namespace trireme::ops {

void conv_reference_forward(const ConvOptions& options, const Shape& out, Reference& r);
void conv_reference_backward(const ConvOptions& options, const Shape& out, Reference& r);

}  // namespace trireme::ops
