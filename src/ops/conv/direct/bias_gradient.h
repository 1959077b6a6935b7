// bias_gradient(): the gradient of a convolution's bias and of a folded-in ReLU, in one pass over the gradient of its
// output. Thread-safe. oneDNN would add up the bias' gradient with four lanes in a separate pass.
#pragma once

#include "tensor/layout.h"

namespace trireme::ops {

// Whether bias_gradient() supports an output in this layout: blocks of 8 or 16 channels.
bool bias_gradient_fits(const tensor::Layout& dst);

// bias(c) = sum over samples and positions of diff_dst. First sets diff_dst to zero where dst is not positive; dst is
// null without a ReLU. Every instruction set gives the same bits.
// REQUIRES: bias_gradient_fits(layout).
void bias_gradient(const tensor::Layout& layout, float* diff_dst, const float* dst, float* bias);

}  // namespace trireme::ops
