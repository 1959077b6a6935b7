// Runs one op by itself on plain tensors, with the kernel that a Program would compile.
// Thread-safe; flushes denormals to zero in the calling thread.
#pragma once

#include <span>
#include <vector>

#include "ops/core/op.h"

namespace trireme::compare {

struct OpGiven {
  std::vector<tensor::Shape> shapes;  // of its inputs, batch dimension included
  std::vector<std::span<const float>> src;
  std::span<const float> diff_dst;  // empty for a loss
  std::vector<std::span<const float>> weights{};
  std::vector<bool> wants_diff_src;         // per input
  const ops::KernelTable* table = nullptr;  // null: built-in choices
  float loss_scale = 1;
};

struct OpFound {
  std::vector<float> dst;
  std::vector<std::vector<float>> diff_src;  // empty where not wanted
  std::vector<std::vector<float>> diff_weights;
  double loss = 0;  // for a loss: the sum over the samples
};

// Forward and backward in training mode; all tensors plain.
OpFound run_op(const ops::Op& op, const OpGiven& given);

// Forward in training mode.
std::vector<float> run_forward(const ops::Op& op, const std::vector<tensor::Shape>& shapes,
                               const std::vector<std::span<const float>>& src,
                               const std::vector<std::span<const float>>& weights, const ops::KernelTable* table);

}  // namespace trireme::compare
