// gradient_error(): compares an op's gradients with differences of its forward pass. For the tests of whoever writes an
// op. Any thread may call it.
#pragma once

#include <vector>

#include "ops/core/op.h"

namespace trireme::ops {

// The largest error of a gradient, relative to the largest value of that gradient: over all inputs and parameters, with
// random values between -1 and 1, in plain memory and, where the inputs have spatial sizes, in blocks of 16 channels.
// Below 1e-3 where the gradient is right; near a kink, such as that of ReLU at 0, differences say nothing. Shapes
// include the batch. REQUIRES: the op is no loss and no view. Padding that a kernel does not leave zero is a user
// error.
double gradient_error(const Op& op, const std::vector<Shape>& src);

}  // namespace trireme::ops
