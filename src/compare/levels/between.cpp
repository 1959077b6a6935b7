#include "compare/levels/between.h"

#include <algorithm>
#include <cmath>
#include <set>

#include "base/error.h"
#include "base/index.h"
#include "compare/levels/layer_file.h"
#include "compare/levels/op_run.h"

namespace trireme::compare {
namespace {

// Roundings of an op that does not sum: an activation's polynomial, a division.
constexpr double kRoundingsOfAnOp = 16;

using base::at;

// A tensor computed by our ops, and the length of the sums behind one element since the last value of the reference.
struct Made {
  std::vector<float> values;
  double length = 0;
};

class Between {
 public:
  Between(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
          const ops::KernelTable* table)
      : network_(network),
        feed_(feed),
        layers_(layers),
        table_(table),
        values_(nodes().size()),
        diffs_(nodes().size()) {
    for (std::size_t i = 0; i < network.inputs().size(); ++i)
      set(network.inputs()[i], first_oar_of(feed, "input." + std::to_string(i)));
    set(network.target(), first_oar_of(feed, "target"));
    for (const graph::ParameterInfo& parameter : network.parameters()) with_parameters_.insert(parameter.node);
  }

  std::vector<Difference> run() {
    for (int number = 0; number < static_cast<int>(nodes().size()); ++number)
      if (nodes()[at(number)].op && !nodes()[at(number)].op->is_loss()) forward(number);
    for (int number = static_cast<int>(nodes().size()) - 1; number >= 0; --number)
      if (nodes()[at(number)].op) backward(number);
    return std::move(found_);
  }

 private:
  const std::vector<graph::Node>& nodes() const { return network_.nodes(); }
  tensor::Shape shape_of(int number) const { return nodes()[at(number)].shape.with_batch(feed_.oars[0].size()); }
  void set(int number, std::span<const float> values) {
    values_[at(number)] = {std::vector<float>(values.begin(), values.end()), 0};
  }
  void compare(const std::string& name, const Made& ours, const store::NamedTensor& theirs) {
    found_.push_back(compare_sums(name, ours.values, theirs, ours.length + kRoundingsOfAnOp));
  }

  // How many input values an op adds up for one output value.
  static double added(std::size_t in, std::size_t out) {
    return std::max(1.0, static_cast<double>(in) / static_cast<double>(std::max<std::size_t>(out, 1)));
  }

  void forward(int number) {
    const graph::Node& node = nodes()[at(number)];
    Made& dst = values_[at(number)];
    if (with_parameters_.contains(number)) {
      const LayerFile layer(layers_.tensors, node.name);
      compare("what reaches " + node.name, values_[at(node.inputs[0])], layer.get("input"));
      dst = {layer.get("output").values, 0};
      return;
    }
    std::vector<tensor::Shape> shapes;
    std::vector<std::span<const float>> src;
    std::size_t in = 0;
    for (const int input : node.inputs) {
      shapes.push_back(shape_of(input));
      src.emplace_back(values_[at(input)].values);
      dst.length = std::max(dst.length, values_[at(input)].length);
      in = std::max(in, src.back().size());
    }
    dst.values = node.op->kind() == "dropout" ? masked(values_[at(node.inputs[0])].values, node.name)
                                              : run_forward(*node.op, shapes, src, {}, table_);
    dst.length += added(in, dst.values.size());
  }

  std::vector<float> masked(std::vector<float> values, const std::string& dropout) const {
    const auto mask = first_oar_of(feed_, "mask." + dropout);
    for (std::size_t i = 0; i < mask.size(); ++i) values[i] *= mask[i];
    return values;
  }

  // Runs when the gradients from all readers of the node have arrived.
  void backward(int number) {
    const graph::Node& node = nodes()[at(number)];
    const Made& diff = diffs_[at(number)];
    if (!node.op->is_loss() && diff.values.empty()) return;  // no parameters depend on it
    if (with_parameters_.contains(number)) {
      const LayerFile layer(layers_.tensors, node.name);
      compare("gradient that reaches " + node.name, diff, layer.get("diff_output"));
      if (const store::NamedTensor* back = layer.find("diff_input")) pass_back(node.inputs[0], back->values, 0);
      return;
    }
    if (node.op->kind() == "dropout") {
      pass_back(node.inputs[0], masked(diff.values, node.name), diff.length);
      return;
    }
    OpGiven given;
    given.diff_dst = diff.values;
    given.table = table_;
    for (const int input : node.inputs) {
      given.shapes.push_back(shape_of(input));
      given.src.emplace_back(values_[at(input)].values);
      given.wants_diff_src.push_back(nodes()[at(input)].op != nullptr);
    }
    if (node.op->is_loss()) given.loss_scale = 1 / static_cast<float>(feed_.oars[0].size());
    const OpFound found = run_op(*node.op, given);
    if (node.op->is_loss()) {
      const tensor::Shape one({1});
      found_.push_back(compare_sums("loss", std::vector{static_cast<float>(found.loss)},
                                    {"loss", one, {static_cast<float>(layers_.loss)}},
                                    static_cast<double>(given.src[0].size()) + kRoundingsOfAnOp));
    }
    for (std::size_t i = 0; i < node.inputs.size(); ++i)
      if (!found.diff_src[i].empty())
        pass_back(node.inputs[i], found.diff_src[i],
                  diff.length + added(values_[at(number)].values.size(), found.diff_src[i].size()));
  }

  void pass_back(int to, const std::vector<float>& values, double length) {
    Made& diff = diffs_[at(to)];
    if (diff.values.empty()) {
      diff = {values, length};
      return;
    }
    for (std::size_t i = 0; i < values.size(); ++i) diff.values[i] += values[i];
    diff.length = std::max(diff.length, length) + 1;
  }

  const graph::Network& network_;
  const Feed& feed_;
  const PeerSide::Layers& layers_;
  const ops::KernelTable* table_;
  std::set<int> with_parameters_;
  std::vector<Made> values_, diffs_;  // per node
  std::vector<Difference> found_;
};

}  // namespace

std::vector<Difference> compare_between(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                                        const ops::KernelTable* table) {
  return Between(network, feed, layers, table).run();
}

std::string cause_at_input(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                           const std::string& layer) {
  const auto node = std::ranges::find(network.nodes(), layer, &graph::Node::name);
  if (node == network.nodes().end()) return "";
  const auto input = std::ranges::find(network.inputs(), node->inputs[0]);
  if (input == network.inputs().end()) return "";
  const auto ours = first_oar_of(feed, fmt::format("input.{}", input - network.inputs().begin()));
  const store::NamedTensor& theirs = LayerFile(layers.tensors, layer).get("input");
  const char* changed = "the peer changes the network's input before its first layer";
  if (theirs.values.size() != ours.size() || theirs.shape.rank() < 2) return changed;
  const std::int64_t channels = theirs.shape[1], places = theirs.shape.count_from(2);
  bool reversed = channels > 1;
  for (std::int64_t i = 0; i < theirs.shape.count() && reversed; ++i) {
    const std::int64_t sample = i / (channels * places), channel = i / places % channels, place = i % places;
    reversed = theirs.values[at(i)] == ours[at((sample * channels + channels - 1 - channel) * places + place)];
  }
  return reversed ? "its channels are in reverse order there: RGB on one side and BGR on the other?" : changed;
}

}  // namespace trireme::compare
