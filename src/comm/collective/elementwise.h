// Combines floats in a reduction, vectorised. Bits do not depend on the instruction set. Pure functions.
#pragma once

#include <cstdint>

namespace trireme::comm {

enum class Combine : std::uint8_t { sum, max };

// into[i] = into[i] (+) from[i].
void combine_into(Combine how, float* into, const float* from, std::int64_t count);
// values[i] *= factor.
void scale(float* values, float factor, std::int64_t count);

}  // namespace trireme::comm
