// ConvOptions: the options of a convolution.
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
  // Unset: the kernel table or the built-in rule chooses, see Op::choices(). Winograd becomes direct for a shape that
  // has no Winograd kernel.
  std::optional<ConvAlgorithm> algorithm{};
};

}  // namespace trireme::ops
