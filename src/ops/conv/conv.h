// Convolution over one or two spatial sizes: src N x C x (H x) W, weight O x C/groups x (kh x) kw, zero padding.
#pragma once

#include "ops/conv/geometry/conv_options.h"
#include "ops/core/op.h"

namespace trireme::ops {

OpPtr conv(ConvOptions options);
OpRow conv_row();

}  // namespace trireme::ops
