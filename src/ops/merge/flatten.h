// Flatten: N x (all other sizes) becomes N x count. A view of plain memory; nothing is copied.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

OpPtr flatten();
OpRow flatten_row();

}  // namespace trireme::ops
