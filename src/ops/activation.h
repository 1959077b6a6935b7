// Element-wise activations.
#pragma once

#include "ops/op.h"

namespace trireme::ops {

OpPtr relu();
OpPtr tanh();
OpPtr sigmoid();

}  // namespace trireme::ops
