// Element-wise activations.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

OpPtr relu();
OpPtr tanh();
OpPtr sigmoid();

OpRow relu_row();
OpRow tanh_row();
OpRow sigmoid_row();

}  // namespace trireme::ops
