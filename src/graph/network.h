// Network: a directed graph of ops over named inputs, ending in one prediction and one loss, and its builder.
// One caller at a time while it is built; the const methods are thread-safe.
//
//   graph::Network net("tiny");
//   auto x = net.input("image", {1, 28, 28});
//   x = net.add("conv1", ops::conv({.channels = 8, .kernel = {3, 3}}), {x});
//   x = net.add("relu1", ops::relu(), {x});
//   x = net.add("fc", ops::dense({.outputs = 10}), {net.add("flatten", ops::flatten(), {x})});
//   net.finish(x, ops::softmax_cross_entropy());
//
// Any number of nodes may use a value. Shapes here are per sample. Errors name the node.
#pragma once

#include <string>
#include <vector>

#include "ops/core/op.h"

namespace trireme::graph {

using ops::OpPtr;
using tensor::Shape;

// The most values that one sample's tensor, or one parameter, may have.
inline constexpr std::int64_t kMostValues = std::int64_t{1} << 40;
inline constexpr std::size_t kMostNodes = 10000;

struct Value {
  int node = -1;
};

struct Node {
  std::string name;
  OpPtr op;                 // null for inputs
  std::vector<int> inputs;  // nodes
  Shape shape;              // of the value, per sample
};

// A parameter as the builder defines it.
struct ParameterInfo {
  std::string name;  // "layer1.0.conv1.weight"
  int node = 0;
  ops::ParameterSpec spec;
  double l2 = 0;           // penalty l2 * sum(w^2), part of the loss
  bool is_frozen = false;  // training leaves it as it is
};

class Network {
 public:
  explicit Network(std::string name) : name_(std::move(name)) {}

  Value input(const std::string& name, const Shape& sample_shape);
  // REQUIRES: a name that is unique within the network. Parameters are called "<node>.<parameter>".
  Value add(const std::string& name, OpPtr op, const std::vector<Value>& inputs);
  // Adds the target input (its shape follows from the prediction and the loss) and the loss; the network is complete.
  void finish(Value prediction, OpPtr loss);
  // Adds coefficient * sum(w^2) over the node's "weight" to the loss.
  void l2_penalty(Value node, double coefficient);
  // Leaves a trained parameter as it is in training. Backward stops at the first layer whose gradients nobody needs.
  // REQUIRES: a finished network; `parameter`: index in parameters().
  void freeze(int parameter) { parameters_[static_cast<std::size_t>(parameter)].is_frozen = true; }
  // Limits the default number of oars; weight-heavy networks set fewer than 16.
  void set_oar_limit(int oars) { oar_limit_ = oars; }
  // The style of the initial weights (models/init.h); empty: whoever trains the network chooses.
  void set_initialiser(const std::string& style) { initialiser_ = style; }

  const std::string& name() const { return name_; }
  Shape shape(Value value) const { return nodes_[static_cast<std::size_t>(value.node)].shape; }
  const std::vector<Node>& nodes() const { return nodes_; }
  // Input nodes in order of definition; the target is not among them.
  const std::vector<int>& inputs() const { return inputs_; }
  int target() const { return target_; }
  int prediction() const { return prediction_; }
  int loss() const { return loss_; }
  const std::vector<ParameterInfo>& parameters() const { return parameters_; }
  std::int64_t parameter_count() const;  // trained ones
  int oar_limit() const { return oar_limit_; }
  const std::string& initialiser() const { return initialiser_; }
  // The total cost of forward for `batch` samples.
  ops::Cost cost(std::int64_t batch) const;

 private:
  friend class Fusion;
  int add_node(Node node);
  // The shape rule, with errors that name the node.
  Shape output_of(const std::string& node, const ops::Op& op, const std::vector<Shape>& inputs) const;

  std::string name_;
  std::vector<Node> nodes_;
  std::vector<int> inputs_;
  int target_ = -1;
  int prediction_ = -1;
  int loss_ = -1;
  std::vector<ParameterInfo> parameters_;
  int oar_limit_ = 16;
  std::string initialiser_;
};

// The default number of oars, a pure function of network and batch: the smaller of the network's limit (16 unless set)
// and batch / 8, rounded down to a power of two, at least 1.
int default_oars(const Network& network, std::int64_t batch);

}  // namespace trireme::graph
