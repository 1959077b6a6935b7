// Dropout: each element is kept with probability 1 - rate and scaled by 1 / (1 - rate); the identity in inference.
#pragma once

#include "ops/core/op.h"

namespace trireme::ops {

// Which elements are dropped is a pure function of (seed, epoch, global sample index, stream, logical position). Every
// dropout of a network needs its own stream.
OpPtr dropout(double rate, std::uint64_t stream);
OpRow dropout_row();

}  // namespace trireme::ops
