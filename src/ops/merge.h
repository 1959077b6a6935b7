// Ops that join values: element-wise add of two, concatenation of any number along the channels (dimension 1).
#pragma once

#include "ops/op.h"

namespace trireme::ops {

OpPtr add();
OpPtr concat();

}  // namespace trireme::ops
