// Ops that join values: element-wise add of two, concatenation of any number along the channels (dimension 1).
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

OpPtr add();
OpPtr concat();

OpRow add_row();
OpRow concat_row();

}  // namespace trireme::ops
