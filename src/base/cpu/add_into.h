// into[i] += from[i], vectorized: the only addition used by the oar tree and for gradients with several contributions.
// Thread-safe.
#pragma once

#include <cstdint>

namespace trireme::base {

void add_into(float* into, const float* from, std::int64_t count);

}  // namespace trireme::base
