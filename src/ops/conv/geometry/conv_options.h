// The options of a convolution, and the algorithms that compute one.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

namespace trireme::ops {

enum class ConvAlgorithm {
  direct,    // oneDNN's
  winograd,  // own, F(4x4, 3x3)
};

struct ConvOptions {
  std::int64_t channels = 0;            // output channels
  std::vector<std::int64_t> kernel{};   // one size per spatial dimension
  std::vector<std::int64_t> stride{};   // default 1
  std::vector<std::int64_t> padding{};  // default 0, both sides
  std::int64_t groups = 1;
  bool bias = true;
  bool relu = false;  // folded in by the fusion pass
  // Unset: conv_algorithm() chooses. Where there is no such kernel for the shape it is direct.
  std::optional<ConvAlgorithm> algorithm{};
};

}  // namespace trireme::ops
