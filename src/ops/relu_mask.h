// The gradient of a folded-in ReLU: zero where the output was not positive.
#pragma once

#include <cstdint>

namespace trireme::ops {

void relu_mask(float* diff_dst, const float* dst, std::int64_t count);

}  // namespace trireme::ops
