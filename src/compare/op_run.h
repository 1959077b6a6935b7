// One op by itself: its kernel, as a Program would compile it, on plain tensors.
#pragma once

#include <span>
#include <vector>

#include "ops/op.h"

namespace trireme::compare {

struct OpGiven {
  tensor::Shape shape;  // of its one input, samples included
  std::span<const float> src, diff_dst;
  std::vector<std::span<const float>> weights;
  bool wants_diff_src = true;
  const ops::KernelTable* table = nullptr;  // null: built-in choices
};

struct OpFound {
  std::vector<float> dst, diff_src;
  std::vector<std::vector<float>> diff_weights;
};

// Forward and backward of an op with one input; all plain.
OpFound run_op(const ops::Op& op, const OpGiven& given);

// Forward, as in training, of an op with any inputs.
std::vector<float> run_forward(const ops::Op& op, const std::vector<tensor::Shape>& shapes,
                               const std::vector<std::span<const float>>& src,
                               const std::vector<std::span<const float>>& weights, const ops::KernelTable* table);

}  // namespace trireme::compare
