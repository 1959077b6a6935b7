// Flatten: N x (everything else) becomes N x count. A view of plain memory.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

OpPtr flatten();
OpRow flatten_row();

}  // namespace trireme::ops
