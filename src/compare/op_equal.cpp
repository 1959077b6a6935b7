#include "compare/op_equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <set>

#include "base/error.h"
#include "compare/op_run.h"
#include "graph/choices.h"
#include "ops/batch_norm.h"

namespace trireme::compare {
namespace {

constexpr double kUnit = std::numeric_limits<float>::epsilon() / 2;
constexpr double kNormRoundings = 16;
constexpr double kAllowance = 6;  // a sum of K values is off by less than 6 sqrt(K) u, except once in 1e7

// What forward may make of roundings through all layers; what is wrong makes much more of it.
constexpr double kChain = 1e-3;

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

// One layer of the reference.
class LayerFile {
 public:
  LayerFile(const store::SafetensorsFile& file, std::string name) : file_(file), name_(std::move(name)) {}
  const store::NamedTensor* find(const std::string& what) const { return file_.find(name_ + "." + what); }
  const store::NamedTensor& get(const std::string& what) const {
    const store::NamedTensor* found = find(what);
    if (found == nullptr) base::run_error("the peer has no {}.{}", name_, what);
    return *found;
  }

 private:
  const store::SafetensorsFile& file_;
  std::string name_;
};

// What a batch norm makes of a rounding of its input: it takes the mean away, which may be much larger than what is
// left. The worst of all channels.
double norm_condition(const store::NamedTensor& input, double epsilon) {
  const std::int64_t samples = input.shape[0], channels = input.shape[1], places = input.shape.count_from(2);
  double worst = 0;
  for (std::int64_t c = 0; c < channels; ++c) {
    double sum = 0, squares = 0;
    for (std::int64_t s = 0; s < samples; ++s)
      for (std::int64_t p = 0; p < places; ++p) {
        const double value = input.values[at((s * channels + c) * places + p)];
        sum += value;
        squares += value * value;
      }
    const double mean = sum / static_cast<double>(samples * places);
    const double variance = std::max(0.0, squares / static_cast<double>(samples * places) - mean * mean);
    worst = std::max(worst, mean * mean / (variance + epsilon));
  }
  return std::sqrt(1 + worst);
}

// How many products or values are added for one element of each result.
struct Lengths {
  double forward = 1, backward = 1, gradient = 1;
};
Lengths lengths_of(const LayerFile& layer, std::span<const ops::ParameterSpec> parameters) {
  const tensor::Shape &in = layer.get("input").shape, &out = layer.get("output").shape;
  const double samples = static_cast<double>(in[0]);
  const double places = static_cast<double>(out.count()) / static_cast<double>(out[0] * out[1]);
  const double weights = static_cast<double>(parameters[0].shape.count());
  if (parameters[0].shape.rank() == 1) {  // a batch norm: sums, and some roundings of each element
    const double length = samples * places + kNormRoundings;
    return {length, length, length};
  }
  return {weights / static_cast<double>(out[1]), weights / static_cast<double>(in[1]), samples * places};
}

double mean_square(const store::NamedTensor& tensor) {
  double sum = 0;
  for (const float value : tensor.values) sum += static_cast<double>(value) * static_cast<double>(value);
  return sum / static_cast<double>(std::max<std::size_t>(tensor.values.size(), 1));
}

// `least`: the mean square that the reference is taken to have at least.
Difference compared(const std::string& name, std::span<const float> ours, const store::NamedTensor& reference,
                    double length, double least = 0) {
  Difference found{name, std::numeric_limits<double>::infinity(), kAllowance * std::sqrt(length) * kUnit};
  if (ours.size() != reference.values.size()) return found;
  double difference = 0, largest_difference = 0, largest = std::sqrt(least);
  for (std::size_t i = 0; i < ours.size(); ++i) {
    const double theirs = reference.values[i], apart = std::abs(ours[i] - theirs);
    difference += apart * apart;
    largest_difference = std::max(largest_difference, apart);
    largest = std::max(largest, std::abs(theirs));
  }
  const double norm = std::max(mean_square(reference), least) * static_cast<double>(ours.size());
  if (difference == 0)
    found.error = 0;
  else if (std::isfinite(difference) && norm > 0) {
    found.error = std::sqrt(difference / norm);
    found.max_error = largest_difference / largest;
  }
  return found;
}

std::vector<std::span<const float>> weights_of(const graph::Node& node, const std::vector<tensor::Shape>& shapes,
                                               const Tensors& weights) {
  std::vector<std::span<const float>> own;
  for (const ops::ParameterSpec& parameter : node.op->parameters(shapes)) {
    const store::NamedTensor* found = find(weights, node.name + "." + parameter.name);
    base::check(found != nullptr, "{} has no weight {}", node.name, parameter.name);
    own.emplace_back(found->values);
  }
  return own;
}

std::vector<Difference> compare_layer(const graph::Node& node, const Tensors& weights, const LayerFile& layer,
                                      const ops::KernelTable* table) {
  const store::NamedTensor& input = layer.get("input");
  const store::NamedTensor* diff_input = layer.find("diff_input");
  const OpGiven given{
      input.shape,           input.values, layer.get("diff_output").values, weights_of(node, {input.shape}, weights),
      diff_input != nullptr, table};
  const std::vector<ops::ParameterSpec> parameters = node.op->parameters(std::span(&input.shape, 1));
  const tensor::Shape &here = node.op->output(std::span(&input.shape, 1)), &there = layer.get("output").shape;
  if (here != there)
    return {{fmt::format("{} makes {} here and {} there", node.name, here.text(), there.text()),
             std::numeric_limits<double>::infinity(), 0}};
  const OpFound found = run_op(*node.op, given);
  Lengths lengths = lengths_of(layer, parameters);
  if (const ops::BatchNormOptions* norm = ops::batch_norm_options(*node.op)) {
    const double condition = norm_condition(input, norm->epsilon);
    for (double* length : {&lengths.forward, &lengths.backward, &lengths.gradient}) *length *= condition * condition;
  }
  std::vector<Difference> all{compared(node.name + " forward", found.dst, layer.get("output"), lengths.forward)};
  if (diff_input != nullptr)
    all.push_back(compared(node.name + " backward", found.diff_src, *diff_input, lengths.backward));
  // The gradient of a bias before a batch norm is zero but for rounding: what sums of random signs would make counts.
  const double random_sum = lengths.gradient * mean_square(layer.get("diff_output"));
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (const store::NamedTensor* theirs = layer.find("diff." + parameters[p].name))
      all.push_back(compared(fmt::format("{} gradient of {}", node.name, parameters[p].name), found.diff_weights[p],
                             *theirs, lengths.gradient, parameters[p].shape.rank() == 1 ? random_sum : 0));
  return all;
}

// The first oar's samples of a tensor.
std::span<const float> of_first_oar(const Feed& feed, const std::string& name) {
  const store::NamedTensor* found = find(feed.tensors, name);
  base::check(found != nullptr, "the batch has no {}", name);
  const std::int64_t own = found->shape.count_from(1);
  return std::span(found->values).subspan(at(feed.oars[0].begin * own), at(feed.oars[0].size() * own));
}

// Our network's forward, op by op: what reaches each layer that the reference has told of.
class Chain {
 public:
  Chain(const graph::Network& network, const Tensors& weights, const Feed& feed, const ops::KernelTable* table)
      : network_(network), weights_(weights), feed_(feed), table_(table), values_(network.nodes().size()) {
    for (std::size_t i = 0; i < network.inputs().size(); ++i) {
      const auto given = of_first_oar(feed, "input." + std::to_string(i));
      values_[at(network.inputs()[i])].assign(given.begin(), given.end());
    }
  }

  // What goes into the node, whose inputs come before it.
  const std::vector<float>& input_of(const graph::Node& node) const { return values_[at(node.inputs[0])]; }

  void run(int number) {
    const graph::Node& node = network_.nodes()[at(number)];
    if (node.op->kind() == "dropout") {
      values_[at(number)] = input_of(node);
      const auto mask = of_first_oar(feed_, "mask." + node.name);
      for (std::size_t i = 0; i < mask.size(); ++i) values_[at(number)][i] *= mask[i];
      return;
    }
    std::vector<tensor::Shape> shapes;
    std::vector<std::span<const float>> src;
    for (const int input : node.inputs) {
      shapes.push_back(network_.nodes()[at(input)].shape.with_batch(feed_.oars[0].size()));
      src.emplace_back(values_[at(input)]);
    }
    values_[at(number)] = run_forward(*node.op, shapes, src, weights_of(node, shapes, weights_), table_);
  }

 private:
  const graph::Network& network_;
  const Tensors& weights_;
  const Feed& feed_;
  const ops::KernelTable* table_;
  std::vector<std::vector<float>> values_;  // per node
};

// The first layer that gets something else here than there, in one step of the network's own forward.
std::optional<Difference> first_that_differs(const graph::Network& network, const Tensors& weights, const Feed& feed,
                                             const store::SafetensorsFile& layers, const ops::KernelTable* table) {
  Chain chain(network, weights, feed, table);
  for (int number = 0; number < static_cast<int>(network.nodes().size()); ++number) {
    const graph::Node& node = network.nodes()[at(number)];
    if (!node.op) continue;
    if (node.op->is_loss()) break;
    if (const store::NamedTensor* theirs = layers.find(node.name + ".input")) {
      Difference reached = compared("what reaches " + node.name, chain.input_of(node), *theirs, 1);
      reached.limit = kChain;
      reached.max_error = 0;  // one element may have been magnified on its way
      if (reached.excess() > 1) return reached;
    }
    chain.run(number);
  }
  return std::nullopt;
}

// Layers that are computed on transformed tiles, which round more often.
int transformed_layers(const graph::Network& network, std::int64_t samples, const ops::KernelTable* table) {
  const ops::KernelTable built_in;
  return static_cast<int>(
      std::ranges::count_if(graph::layers_with_a_choice(network, samples), [&](const graph::LayerChoices& layer) {
        const std::string& algorithm = (table ? *table : built_in).pick(base::active_isa(), layer.choices);
        return algorithm == "winograd" || algorithm == "toom-cook";
      }));
}

}  // namespace

std::map<std::string, double> op_thresholds() {
  return {{"op_allowance", kAllowance}, {"op_chain", kChain}, {"op_norm_roundings", kNormRoundings}};
}

Level op_equal(const graph::Network& network, const Tensors& weights, const Feed& feed,
               const store::SafetensorsFile& layers, const ops::KernelTable* table) {
  Level level{.name = "op-equal"};
  const auto fail = [&](const std::string& summary) {
    level.passed = false;
    level.summary = summary;
  };
  std::set<int> nodes;
  for (const graph::ParameterInfo& parameter : network.parameters()) nodes.insert(parameter.node);
  for (const int number : nodes) {
    const graph::Node& node = network.nodes()[at(number)];
    const std::vector<Difference> all = compare_layer(node, weights, LayerFile(layers, node.name), table);
    level.rows.insert(level.rows.end(), all.begin(), all.end());
    const Difference& worst = worst_of(all);
    if (!level.passed || worst.excess() <= 1) continue;
    fail(worst.limit == 0 ? worst.name
                          : fmt::format("{} differs by {:.2g}, where its roundings make at most {:.2g}", worst.name,
                                        std::max(worst.error, worst.max_error), worst.limit));
  }
  if (!level.passed) return level;
  if (const auto reached = first_that_differs(network, weights, feed, layers, table)) {
    fail(fmt::format("all layers are equal by themselves, but {} differs by {:.2g}: other ops between them?",
                     reached->name, reached->error));
    return level;
  }
  const int transformed = transformed_layers(network, feed.oars[0].size(), table);
  level.summary = fmt::format(
      "forward, backward and gradients of {} layers by themselves{}; closest to its limit: {}", nodes.size(),
      transformed > 0 ? fmt::format(", {} by Winograd or Toom-Cook, with the same limits", transformed) : "",
      worst_of(level.rows).name);
  return level;
}

}  // namespace trireme::compare
