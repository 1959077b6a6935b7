// The gradient of a convolution's bias, and of a ReLU folded into it, in one pass over the gradient of its output.
// oneDNN adds up the bias' gradient with four lanes, in a pass of its own.
#pragma once

#include "tensor/layout.h"

namespace trireme::ops {

// Whether it can be had for an output in this layout: blocks of 8 or 16 channels.
bool bias_gradient_fits(const tensor::Layout& dst);

// bias(c) = sum over samples and positions of diff_dst, which is set to zero first where dst is not positive; dst may
// be null: no ReLU. Each sum is the same on every instruction set.
// REQUIRES: bias_gradient_fits(layout).
void bias_gradient(const tensor::Layout& layout, float* diff_dst, const float* dst, float* bias);

}  // namespace trireme::ops
