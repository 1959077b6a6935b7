// One row of the table of ops: an op, the shapes it is tried on, and what its results may differ by. Adding an op costs
// one row in op_cases.cpp; every check of this folder then runs on it.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "ops/core/op.h"

namespace trireme::optest {

using ops::OpPtr;
using ops::Reference;
using tensor::Shape;

// What numbers an input holds.
enum class Values {
  spread,    // uniform in [-0.95, 0.95)
  nonzero,   // 0.05 to 1 away from 0, where a ReLU or a decision bends
  distinct,  // no two nearer than 2 / count, so that a maximum stays one
  shifted,   // around another mean in each channel
  logits,    // nonzero, four times as wide
  classes,   // a class index each, for the target of a prediction of as many values as src[0] has
  labels,    // 0 or 1
};

// Largest absolute errors that rounding to float can cause, element by element.
struct Bounds {
  std::vector<double> dst;
  std::vector<std::vector<double>> diff_src, diff_weights;
};
// From a reference that ran forward (and, in training, backward) and the gradient it was given.
using BoundRule = std::function<Bounds(const ops::Op& op, const Reference& exact, const std::vector<double>& diff_dst)>;

struct OpCase {
  std::string name{};
  OpPtr op;
  std::vector<Shape> shapes;  // of src, batch included
  BoundRule bound{};
  std::vector<Values> values{};  // per src; spread where it says nothing
  OpPtr before_relu = nullptr;   // the op without its folded-in ReLU: gradients stay away from the bend
  std::string torch{};           // fields of a JSON object for torch_ops.py; empty when torch cannot say it
  std::string family() const { return std::string(op->kind()); }
};

const std::vector<OpCase>& op_cases();
// The kinds of op in the table, each once.
std::vector<std::string> families();

// True for families whose bits are oneDNN's and depend on the instruction set; those of all others do not.
bool runs_in_onednn(const std::string& family);

}  // namespace trireme::optest
