// A folded-in ReLU and its gradient, which is zero where the output is not positive. Thread-safe.
#pragma once

#include <cstdint>

namespace trireme::ops {

void relu_in_place(float* dst, std::int64_t count);
void relu_mask(float* diff_dst, const float* dst, std::int64_t count);

}  // namespace trireme::ops
