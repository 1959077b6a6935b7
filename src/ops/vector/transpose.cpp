#include "ops/vector/transpose.h"

#include <cstring>

namespace trireme::ops {
namespace {

typedef float Four __attribute__((vector_size(16)));

Four load(const float* p) {
  Four v;
  std::memcpy(&v, p, sizeof v);
  return v;
}
void store(float* p, Four v) { std::memcpy(p, &v, sizeof v); }

void transpose_four(const float* from, std::int64_t from_row, float* to, std::int64_t to_row) {
  const Four a = load(from), b = load(from + from_row), c = load(from + 2 * from_row), d = load(from + 3 * from_row);
  const Four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5), cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
  const Four ab_last = __builtin_shufflevector(a, b, 2, 6, 3, 7), cd_last = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, __builtin_shufflevector(ab, cd, 0, 1, 4, 5));
  store(to + to_row, __builtin_shufflevector(ab, cd, 2, 3, 6, 7));
  store(to + 2 * to_row, __builtin_shufflevector(ab_last, cd_last, 0, 1, 4, 5));
  store(to + 3 * to_row, __builtin_shufflevector(ab_last, cd_last, 2, 3, 6, 7));
}

}  // namespace

void transpose(const float* from, std::int64_t from_row, std::int64_t rows, std::int64_t columns, float* to,
               std::int64_t to_row) {
  const auto transpose_rest = [&](std::int64_t first, std::int64_t last, std::int64_t column) {
    for (std::int64_t r = first; r < last; ++r)
      for (std::int64_t c = column; c < columns; ++c) to[c * to_row + r] = from[r * from_row + c];
  };
  const std::int64_t whole_rows = rows / 4 * 4, whole_columns = columns / 4 * 4;
  for (std::int64_t r = 0; r < whole_rows; r += 4)
    for (std::int64_t c = 0; c < whole_columns; c += 4)
      transpose_four(from + r * from_row + c, from_row, to + c * to_row + r, to_row);
  transpose_rest(0, whole_rows, whole_columns);
  transpose_rest(whole_rows, rows, 0);
}

}  // namespace trireme::ops
