// norm_conv(): batch norm, ReLU and a 1x1 convolution as one op, made by the fusion pass. The normalised value is never
// written to memory. Thread-safe.
#pragma once

#include "ops/norm/batch_norm.h"

namespace trireme::ops {

// Parameters: the norm's four, then the convolution's weight. REQUIRES: a norm without add; `conv` is a convolution
// over two spatial sizes with kernel 1, stride 1, no padding, groups, bias or ReLU.
OpPtr norm_conv(const BatchNormOptions& norm, OpPtr conv);

}  // namespace trireme::ops
