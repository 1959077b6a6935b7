// L2 penalty: coefficient * sum(w^2) over a parameter, added to the loss once per step (not per oar).
#pragma once

#include <cstdint>

namespace trireme::ops {

// sum(w^2) in double over fixed blocks along a fixed tree.
double l2_sum(const float* weights, std::int64_t count);
// The gradient is factor * w; this is the factor.
inline float l2_gradient_factor(double coefficient) { return static_cast<float>(2 * coefficient); }

}  // namespace trireme::ops
