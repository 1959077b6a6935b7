#include "compare/levels/op_equal.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>

#include "base/error.h"
#include "base/index.h"
#include "base/rng.h"
#include "compare/levels/between.h"
#include "compare/levels/layer_file.h"
#include "compare/levels/op_run.h"
#include "graph/choices.h"
#include "ops/norm/batch_norm.h"

namespace trireme::compare {
namespace {

constexpr double kNormRoundings = 16;
constexpr std::int64_t kProbeSamples = 8;

using base::at;

// By how much a batch norm amplifies a rounding of its input: it subtracts the mean, which may be much larger than the
// remainder. The maximum over all channels.
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

// The number of products or values added for one element of each result.
struct Lengths {
  double forward = 1, backward = 1, gradient = 1;
};
Lengths lengths_of(const LayerFile& layer, std::span<const ops::ParameterSpec> parameters) {
  const tensor::Shape &in = layer.get("input").shape, &out = layer.get("output").shape;
  const double samples = static_cast<double>(in[0]);
  const double places = static_cast<double>(out.count()) / static_cast<double>(out[0] * out[1]);
  const double weights = static_cast<double>(parameters[0].shape.count());
  if (parameters[0].shape.rank() == 1) {  // a batch norm: sums, and some roundings per element
    const double length = samples * places + kNormRoundings;
    return {length, length, length};
  }
  return {weights / static_cast<double>(out[1]), weights / static_cast<double>(in[1]), samples * places};
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
  const OpGiven given{.shapes = {input.shape},
                      .src = {input.values},
                      .diff_dst = layer.get("diff_output").values,
                      .weights = weights_of(node, {input.shape}, weights),
                      .wants_diff_src = {diff_input != nullptr},
                      .table = table};
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
  std::vector<Difference> all{compare_sums(node.name + " forward", found.dst, layer.get("output"), lengths.forward)};
  if (diff_input != nullptr)
    all.push_back(compare_sums(node.name + " backward", found.diff_src[0], *diff_input, lengths.backward));
  // The gradient of a bias before a batch norm is zero except for rounding, so it is judged against what sums of random
  // signs would give.
  const double random_sum = lengths.gradient * mean_square(layer.get("diff_output"));
  for (std::size_t p = 0; p < parameters.size(); ++p)
    if (const store::NamedTensor* theirs = layer.find("diff." + parameters[p].name))
      all.push_back(compare_sums(fmt::format("{} gradient of {}", node.name, parameters[p].name), found.diff_weights[p],
                                 *theirs, lengths.gradient, parameters[p].shape.rank() == 1 ? random_sum : 0));
  return all;
}

// One input per batch norm, with a variance equal to its epsilon, so that epsilon decides the result.
Tensors probes_for(const graph::Network& network) {
  Tensors all;
  for (const graph::Node& node : network.nodes()) {
    const ops::BatchNormOptions* norm = node.op ? ops::batch_norm_options(*node.op) : nullptr;
    if (norm == nullptr) continue;
    std::vector<std::int64_t> sizes{kProbeSamples, node.shape[0]};
    for (int axis = 1; axis < node.shape.rank(); ++axis) sizes.push_back(2);
    store::NamedTensor probe{node.name + ".input", tensor::Shape(sizes), {}};
    const base::CounterRng random(0, base::Purpose::probe, 0, all.size());
    for (std::uint64_t i = 0; i < static_cast<std::uint64_t>(probe.shape.count()); ++i)
      probe.values.push_back(static_cast<float>(std::sqrt(12 * norm->epsilon)) * (random.uniform(i) - 0.5f));
    all.push_back(std::move(probe));
  }
  return all;
}

std::vector<Difference> compare_probes(const graph::Network& network, const Tensors& weights, const Tensors& probes,
                                       const Tensors& answers, const ops::KernelTable* table) {
  std::vector<Difference> all;
  for (const store::NamedTensor& probe : probes) {
    const std::string name = probe.name.substr(0, probe.name.rfind('.'));
    const graph::Node& node = *std::ranges::find(network.nodes(), name, &graph::Node::name);
    const store::NamedTensor* theirs = find(answers, name + ".output");
    if (theirs == nullptr) base::run_error("the peer has sent no output of {} for the probe input", name);
    const double places = static_cast<double>(probe.shape.count() / probe.shape[1]);
    const double condition = norm_condition(probe, ops::batch_norm_options(*node.op)->epsilon);
    all.push_back(compare_sums(
        name + " of small values",
        run_forward(*node.op, {probe.shape}, {probe.values}, weights_of(node, {probe.shape}, weights), table), *theirs,
        (places + kNormRoundings) * condition * condition));
  }
  return all;
}

// The number of layers computed on transformed tiles, which round more often.
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
  return {{"op_allowance", kAllowance}, {"op_norm_roundings", kNormRoundings}};
}

Level op_equal(const graph::Network& network, const Tensors& weights, const Feed& feed, const PeerSide::Layers& layers,
               const Probe& probe, const ops::KernelTable* table) {
  Level level{.name = "op-equal"};
  const auto add = [&](const std::vector<Difference>& all) {
    level.rows.insert(level.rows.end(), all.begin(), all.end());
    const auto first = std::ranges::find_if(all, [](const Difference& one) { return one.excess() > 1; });
    if (!level.passed || first == all.end()) return false;
    level.passed = false;
    level.summary = first->limit == 0
                        ? first->name
                        : fmt::format("{} differs by {:.2g}, where rounding causes at most {:.2g}", first->name,
                                      std::max(first->error, first->max_error), first->limit);
    return true;
  };
  std::set<int> nodes;
  for (const graph::ParameterInfo& parameter : network.parameters()) nodes.insert(parameter.node);
  for (const int number : nodes) {
    const graph::Node& node = network.nodes()[at(number)];
    add(compare_layer(node, weights, LayerFile(layers.tensors, node.name), table));
  }
  const Tensors probes = probes_for(network);
  if (!probes.empty()) add(compare_probes(network, weights, probes, probe(probes), table));
  if (!level.passed) return level;
  const std::vector<Difference> between = compare_between(network, feed, layers, table);
  if (add(between)) {
    const std::string first =
        std::ranges::find_if(between, [](const Difference& one) { return one.excess() > 1; })->name;
    const std::string cause = cause_at_input(network, feed, layers, first.substr(first.rfind(' ') + 1));
    level.summary = "all layers are equal by themselves, but " + level.summary + "; " +
                    (cause.empty() ? "another op between layers, or in the loss" : cause);
    return level;
  }
  const int transformed = transformed_layers(network, feed.oars[0].size(), table);
  level.summary = fmt::format(
      "forward, backward and gradients of {} layers by themselves{}, and of all ops between them; closest to its "
      "limit: "
      "{}",
      nodes.size(),
      transformed > 0 ? fmt::format(", {} by Winograd or Toom-Cook, with the same limits", transformed) : "",
      worst_of(level.rows).name);
  return level;
}

}  // namespace trireme::compare
