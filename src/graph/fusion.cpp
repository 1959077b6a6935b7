#include "graph/fusion.h"

#include <algorithm>

#include "base/cpu/simd.h"

namespace trireme::graph {

class Fusion {
 public:
  explicit Fusion(const Network& network) : net_(network), consumers_(network.nodes_.size(), 0) {
    for (const Node& node : net_.nodes_)
      for (const int input : node.inputs) ++consumers_[at(input)];
  }

  Network run() {
    for (std::size_t i = 0; i < net_.nodes_.size(); ++i)
      if (const Node& node = net_.nodes_[i]; node.op && node.op->kind() == "max_pool")
        move_relu_behind(static_cast<int>(i));
    for (std::size_t i = 0; i < net_.nodes_.size(); ++i) {
      const Node& node = net_.nodes_[i];
      if (!node.op) continue;
      if (node.op->kind() == "relu") fold_relu(static_cast<int>(i));
      if (node.op->kind() == "add") fold_add(static_cast<int>(i));
      fold_norm(static_cast<int>(i));
    }
    return compacted();
  }

 private:
  static std::size_t at(int i) { return static_cast<std::size_t>(i); }

  // Whether the node's value may be folded into its consumer: one consumer, and not the prediction.
  bool only_used_once(int node) const {
    return consumers_[at(node)] == 1 && node != net_.prediction_ && net_.nodes_[at(node)].op != nullptr;
  }

  // `later` takes the place of `earlier`: its op, its inputs (and `more`), its parameters.
  void replace(int later, int earlier, OpPtr op, std::vector<int> more) {
    Node& node = net_.nodes_[at(later)];
    Node& folded = net_.nodes_[at(earlier)];
    node.op = std::move(op);
    node.inputs = folded.inputs;
    node.inputs.insert(node.inputs.end(), more.begin(), more.end());
    for (ParameterInfo& parameter : net_.parameters_)
      if (parameter.node == earlier) parameter.node = later;
    folded.op = nullptr;
    folded.inputs.clear();
    folded_.push_back(earlier);
  }

  // The maximum of ReLUs is the ReLU of the maximum. After the pool the ReLU has fewer elements, and the pool's input
  // need not be kept for the gradient.
  void move_relu_behind(int pool) {
    const int before = net_.nodes_[at(pool)].inputs[0];
    if (!only_used_once(before) || net_.nodes_[at(before)].op->kind() != "relu") return;
    if (OpPtr op = net_.nodes_[at(pool)].op->with_relu()) replace(pool, before, std::move(op), {});
  }

  void fold_relu(int relu) {
    const int before = net_.nodes_[at(relu)].inputs[0];
    if (!only_used_once(before)) return;
    if (OpPtr op = net_.nodes_[at(before)].op->with_relu()) replace(relu, before, std::move(op), {});
  }

  void fold_add(int add) {
    const std::vector<int> inputs = net_.nodes_[at(add)].inputs;
    for (const std::size_t side : {0u, 1u}) {
      const int before = inputs[side];
      if (!only_used_once(before) || inputs[0] == inputs[1]) continue;
      if (OpPtr op = net_.nodes_[at(before)].op->with_add()) {
        replace(add, before, std::move(op), {inputs[1 - side]});
        return;
      }
    }
  }

  // Only where the norm reads a concat or a value that a concat extends: there the channels lie last and their number
  // is odd, which suits the folded op's kernel and no other. Without fma instructions that kernel is slow.
  void fold_norm(int later) {
    const Node& node = net_.nodes_[at(later)];
    if (node.inputs.size() != 1 || base::active_isa() == base::Isa::generic) return;
    const int norm = node.inputs[0];
    if (!only_used_once(norm)) return;
    const int read = net_.nodes_[at(norm)].inputs[0];
    const auto is_concat = [](const Node& n) { return n.op && n.op->kind() == "concat"; };
    const auto extends = [&](const Node& n) { return is_concat(n) && n.inputs[0] == read; };
    if (!is_concat(net_.nodes_[at(read)]) && std::ranges::none_of(net_.nodes_, extends)) return;
    if (OpPtr op = node.op->with_norm(*net_.nodes_[at(norm)].op)) replace(later, norm, std::move(op), {});
  }

  // The network without the folded nodes, ids renumbered.
  Network compacted() {
    std::vector<int> renumbered(net_.nodes_.size(), -1);
    std::vector<Node> kept;
    for (std::size_t i = 0; i < net_.nodes_.size(); ++i) {
      if (std::find(folded_.begin(), folded_.end(), static_cast<int>(i)) != folded_.end()) continue;
      renumbered[i] = static_cast<int>(kept.size());
      kept.push_back(net_.nodes_[i]);
    }
    for (Node& node : kept)
      for (int& input : node.inputs) input = renumbered[at(input)];
    net_.nodes_ = std::move(kept);
    for (int& input : net_.inputs_) input = renumbered[at(input)];
    for (ParameterInfo& parameter : net_.parameters_) parameter.node = renumbered[at(parameter.node)];
    for (int* place : {&net_.target_, &net_.prediction_, &net_.loss_}) *place = renumbered[at(*place)];
    return std::move(net_);
  }

  Network net_;
  std::vector<int> consumers_;
  std::vector<int> folded_;
};

Network fuse(const Network& network) { return Fusion(network).run(); }

}  // namespace trireme::graph
