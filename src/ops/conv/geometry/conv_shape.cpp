#include "ops/conv/geometry/conv_shape.h"

namespace trireme::ops {

std::int64_t products_inside(std::int64_t in, std::int64_t out, std::int64_t kernel, std::int64_t padding) {
  std::int64_t count = 0;
  for (std::int64_t place = 0; place < kernel; ++place) {
    const std::int64_t first = place - padding;  // the input that output 0 reads at this kernel position
    const std::int64_t below = first < 0 ? -first : 0, above = first + out > in ? first + out - in : 0;
    if (below + above < out) count += out - below - above;
  }
  return count;
}

}  // namespace trireme::ops
