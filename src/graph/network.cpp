#include "graph/network.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trireme::graph {
namespace {

// Names stand in messages, tables and file names.
void check_name(std::string name) {
  const auto is_control = [](char c) { return static_cast<unsigned char>(c) < ' ' || c == '\x7f'; };
  if (std::ranges::none_of(name, is_control)) return;
  std::ranges::replace_if(name, is_control, '?');
  base::user_error("the name '{}' has a line break or another control character in it", name);
}

// Products of sizes would overflow long after no machine has the memory.
void check_size(const std::string& what, const Shape& shape) {
  std::int64_t count = 1;
  for (const std::int64_t size : shape.sizes()) {
    if (size > kMostValues / std::max<std::int64_t>(count, 1))
      base::user_error("{} of the shape {} has more than 2^40 values", what, shape.text());
    count *= size;
  }
}

}  // namespace

int Network::add_node(Node node) {
  check_name(name_);
  check_name(node.name);
  for (const Node& other : nodes_)
    if (other.name == node.name) base::user_error("network '{}' has two nodes called '{}'", name_, node.name);
  if (nodes_.size() == kMostNodes)
    base::user_error("network '{}' has more than {} nodes; check the repeats of its blocks", name_, kMostNodes);
  nodes_.push_back(std::move(node));
  return static_cast<int>(nodes_.size()) - 1;
}

Value Network::input(const std::string& name, const Shape& sample_shape) {
  for (const std::int64_t size : sample_shape.sizes())
    if (size <= 0)
      base::user_error("input '{}' of network '{}' has the impossible shape {}", name, name_, sample_shape.text());
  check_size(fmt::format("input '{}'", name), sample_shape);
  const int node = add_node({name, nullptr, {}, sample_shape});
  inputs_.push_back(node);
  return {node};
}

Value Network::add(const std::string& name, OpPtr op, const std::vector<Value>& inputs) {
  base::check(op != nullptr, "node '{}' has no op", name);
  Node node{name, std::move(op), {}, {}};
  std::vector<Shape> shapes;
  for (const Value input : inputs) {
    if (input.node < 0 || input.node >= static_cast<int>(nodes_.size()))
      base::user_error("node '{}' of network '{}' uses a value that does not belong to it", name, name_);
    node.inputs.push_back(input.node);
    shapes.push_back(nodes_[static_cast<std::size_t>(input.node)].shape.with_batch(1));
  }
  node.shape = output_of(name, *node.op, shapes);
  check_size(fmt::format("node '{}'", name), node.shape);
  const auto specs = node.op->parameters(shapes);
  for (const ops::ParameterSpec& spec : specs)
    check_size(fmt::format("parameter '{}.{}'", name, spec.name), spec.shape);
  const int index = add_node(std::move(node));
  for (const ops::ParameterSpec& spec : specs) parameters_.push_back({name + "." + spec.name, index, spec, 0});
  return {index};
}

void Network::finish(Value prediction, OpPtr loss) {
  base::check(loss != nullptr && loss->is_loss(), "finish() of network '{}' needs a loss op", name_);
  base::check(loss_ < 0, "network '{}' is finished already", name_);
  if (prediction.node < 0 || prediction.node >= static_cast<int>(nodes_.size()))
    base::user_error("finish() of network '{}' got a value that does not belong to it", name_);
  prediction_ = prediction.node;
  // Given the prediction alone, a loss's shape rule returns the shape of the target it wants.
  const std::vector<Shape> predicted{shape(prediction).with_batch(1)};
  target_ = add_node({"target", nullptr, {}, output_of("loss", *loss, predicted)});
  loss_ = add("loss", std::move(loss), {prediction, Value{target_}}).node;
}

Shape Network::output_of(const std::string& node, const ops::Op& op, const std::vector<Shape>& inputs) const {
  try {
    return op.output(inputs).without_batch();
  } catch (const base::Error& error) {
    if (error.kind() != base::ErrorKind::user) throw;
    base::user_error("network '{}', node '{}': {}", name_, node, error.what());
  }
}

void Network::l2_penalty(Value node, double coefficient) {
  for (ParameterInfo& parameter : parameters_)
    if (parameter.node == node.node && parameter.spec.role == ops::Role::weights) parameter.l2 += coefficient;
}

std::int64_t Network::parameter_count() const {
  std::int64_t count = 0;
  for (const ParameterInfo& parameter : parameters_)
    if (!parameter.spec.is_statistic()) count += parameter.spec.shape.count();
  return count;
}

ops::Cost Network::cost(std::int64_t batch) const {
  ops::Cost total;
  for (const Node& node : nodes_) {
    if (!node.op) continue;
    std::vector<Shape> shapes;
    for (const int input : node.inputs)
      shapes.push_back(nodes_[static_cast<std::size_t>(input)].shape.with_batch(batch));
    const ops::Cost cost = node.op->cost(shapes);
    total.flops += cost.flops;
    total.bytes += cost.bytes;
  }
  return total;
}

int default_oars(const Network& network, std::int64_t batch) {
  const std::int64_t wanted = std::min<std::int64_t>(network.oar_limit(), std::max<std::int64_t>(batch / 8, 1));
  return static_cast<int>(std::bit_floor(static_cast<std::uint64_t>(wanted)));
}

}  // namespace trireme::graph
