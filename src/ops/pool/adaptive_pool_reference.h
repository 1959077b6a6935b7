// Reference implementation of adaptive average pooling in double, and the window rule that both implementations use.
// Thread-safe.
#pragma once

#include "ops/pool/pool.h"

namespace trireme::ops {

// The inputs [begin, end) that output i of `out` covers in one dimension of `in` inputs.
struct AdaptiveWindow {
  std::int64_t begin = 0, end = 0;
  AdaptiveWindow(std::int64_t i, std::int64_t in, std::int64_t out)
      : begin(i * in / out), end(((i + 1) * in + out - 1) / out) {}
  std::int64_t size() const { return end - begin; }
};

void adaptive_pool_reference_forward(const Shape& out, Reference& r);
void adaptive_pool_reference_backward(const Shape& out, Reference& r);

}  // namespace trireme::ops
