// Convolution over one or two spatial sizes: src N x C x (H x) W, weight O x C/groups x (kh x) kw, zero padding.
#pragma once

#include <optional>
#include <vector>

#include "ops/conv/conv_choice.h"
#include "ops/core/op.h"

namespace trireme::ops {

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

OpPtr conv(ConvOptions options);
OpRow conv_row();

}  // namespace trireme::ops
