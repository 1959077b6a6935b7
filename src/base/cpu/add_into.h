// into[i] += from[i], vectorised; the one addition of the oar tree and of gradients that meet.
#pragma once

#include <cstdint>

namespace trireme::base {

void add_into(float* into, const float* from, std::int64_t count);

}  // namespace trireme::base
