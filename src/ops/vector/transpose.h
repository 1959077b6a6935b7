// transpose(): transposes a matrix in blocks of 4 x 4. Thread-safe.
#pragma once

#include <cstdint>

namespace trireme::ops {

// to[c * to_row + r] = from[r * from_row + c]
void transpose(const float* from, std::int64_t from_row, std::int64_t rows, std::int64_t columns, float* to,
               std::int64_t to_row);

}  // namespace trireme::ops
