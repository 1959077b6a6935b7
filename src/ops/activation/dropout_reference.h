// Reference implementation of dropout in double, and the threshold that both implementations use. Thread-safe.
#pragma once

#include <cmath>

#include "ops/core/op.h"

namespace trireme::ops {

// An element is dropped when the top 24 bits of its random number are below this.
inline std::uint64_t dropout_threshold(double rate) {
  return static_cast<std::uint64_t>(std::llround(rate * 16777216.0));
}

void dropout_reference_forward(double rate, std::uint64_t stream, Reference& r);
void dropout_reference_backward(double rate, std::uint64_t stream, Reference& r);

}  // namespace trireme::ops
