// op-equal: a reference that agrees passes, and each thing that is wrong with one is named.
#include "compare/levels/op_equal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compare/levels/op_run.h"
#include "models/layer_builder.h"
#include "ops/loss/loss.h"
#include "ops/norm/batch_norm.h"
#include "support/core_errors.h"

namespace trireme::compare {
namespace {

using support::contains;

constexpr std::int64_t kSamples = 5;

// A small network and what the reference tells of it, which our own kernels make here.
struct Case {
  explicit Case(float mean = 0) : network("small") {
    models::LayerBuilder builder(network);
    graph::Value x = network.input("image", {3, 6, 7});
    x = builder.relu("relu", builder.batch_norm("norm", builder.conv("conv", x, {.channels = 4, .kernel = 3})));
    network.finish(builder.dense("fc", builder.flatten("flatten", x), 10), ops::softmax_cross_entropy());
    for (const graph::ParameterInfo& p : network.parameters())
      weights.push_back(random(p.name, p.spec.shape, p.spec.role == ops::Role::running_variance ? 5 : 0));
    find_in(weights, "conv.bias").values.assign(4, mean);
    feed = {{random("input.0", {kSamples, 3, 6, 7}), {"target", {kSamples, 1}, {3, 1, 4, 1, 5}}}, {{0, kSamples}}};
    compute();
  }

  // The reference's forward and backward, as the network is; `relu`: false leaves the ReLU out.
  void compute(bool relu = true) {
    layers.tensors.tensors.clear();
    const std::vector<graph::Node>& nodes = network.nodes();
    std::vector<std::vector<float>> values(nodes.size());
    values[0] = feed.tensors[0].values;
    values[static_cast<std::size_t>(network.target())] = feed.tensors[1].values;
    const auto given = [&](const graph::Node& node) {
      OpGiven all{};
      for (const int input : node.inputs) {
        const auto i = static_cast<std::size_t>(input);
        all.shapes.push_back(nodes[i].shape.with_batch(kSamples));
        all.src.emplace_back(values[i]);
        all.wants_diff_src.push_back(nodes[i].op != nullptr);
      }
      for (const auto& p : node.op->parameters(all.shapes))
        all.weights.emplace_back(find_in(weights, node.name + "." + p.name).values);
      return all;
    };
    for (std::size_t i = 0; i < nodes.size(); ++i) {
      if (!nodes[i].op || nodes[i].op->is_loss()) continue;
      const OpGiven all = given(nodes[i]);
      values[i] = nodes[i].name == "relu" && !relu
                      ? std::vector(all.src[0].begin(), all.src[0].end())
                      : run_forward(*nodes[i].op, all.shapes, all.src, all.weights, nullptr);
    }
    std::vector<float> diff;  // the network is a chain
    for (std::size_t i = nodes.size(); i-- > 0;) {
      const graph::Node& node = nodes[i];
      if (!node.op || (node.name == "relu" && !relu)) continue;
      OpGiven all = given(node);
      all.diff_dst = diff;
      all.loss_scale = 1.0f / kSamples;
      OpFound found = run_op(*node.op, all);
      if (node.op->is_loss()) layers.loss = found.loss;
      const auto parameters = node.op->parameters(all.shapes);
      if (!parameters.empty()) {
        const tensor::Shape out = node.shape.with_batch(kSamples);
        add(node.name + ".input", all.shapes[0], {all.src[0].begin(), all.src[0].end()});
        add(node.name + ".output", out, values[i]);
        add(node.name + ".diff_output", out, diff);
        if (node.name != "conv") add(node.name + ".diff_input", all.shapes[0], found.diff_src[0]);
        for (std::size_t p = 0; p < parameters.size(); ++p)
          if (!parameters[p].is_statistic())
            add(node.name + ".diff." + parameters[p].name, parameters[p].shape, found.diff_weights[p]);
      }
      diff = found.diff_src[0];
    }
  }

  Level judged() { return judged(network); }
  // The norms of `answering` answer the probes.
  Level judged(const graph::Network& answering) {
    const auto probe = [&](const Tensors& inputs) {
      const store::NamedTensor& input = inputs.at(0);
      const graph::Node& norm = *std::ranges::find(answering.nodes(), "norm", &graph::Node::name);
      std::vector<std::span<const float>> own;
      for (const auto& p : norm.op->parameters(std::span(&input.shape, 1)))
        own.emplace_back(find_in(weights, "norm." + p.name).values);
      return Tensors{{"norm.output", input.shape, run_forward(*norm.op, {input.shape}, {input.values}, own, nullptr)}};
    };
    return op_equal(network, weights, feed, layers, probe, nullptr);
  }
  store::NamedTensor& told(const std::string& name) { return find_in(layers.tensors.tensors, name); }

  graph::Network network;
  Tensors weights;
  Feed feed;
  PeerSide::Layers layers;

 private:
  void add(const std::string& name, const tensor::Shape& shape, const std::vector<float>& values) {
    layers.tensors.tensors.push_back({name, shape, values});
  }
  static store::NamedTensor& find_in(Tensors& all, const std::string& name) {
    return *std::ranges::find(all, name, &store::NamedTensor::name);
  }
  store::NamedTensor random(const std::string& name, const tensor::Shape& shape, float mean = 0) {
    std::normal_distribution<float> normal(mean);
    std::vector<float> values(static_cast<std::size_t>(shape.count()));
    for (float& value : values) value = normal(random_);
    return {name, shape, values};
  }

  std::mt19937 random_{1};
};

double limit_of(const Level& level, const std::string& row) {
  return std::ranges::find(level.rows, row, &Difference::name)->limit;
}

TEST(OpEqual, EveryResultOfEveryLayer) {
  const Level level = Case().judged();
  EXPECT_TRUE(level.passed) << level.summary;
  EXPECT_TRUE(contains(level.summary, "3 layers")) << level.summary;
  std::vector<std::string> names;
  for (const Difference& row : level.rows) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{
                       "conv forward", "conv gradient of weight", "conv gradient of bias", "norm forward",
                       "norm backward", "norm gradient of weight", "norm gradient of bias", "fc forward", "fc backward",
                       "fc gradient of weight", "fc gradient of bias", "norm of small values", "what reaches conv",
                       "what reaches norm", "what reaches fc", "loss", "gradient that reaches fc",
                       "gradient that reaches norm", "gradient that reaches conv"}));
}

TEST(OpEqual, NamesWhatDiffers) {
  for (const auto& [tensor, row] : {std::pair{"conv.output", "conv forward"},
                                    {"conv.diff.weight", "conv gradient of weight"},
                                    {"norm.diff_input", "norm backward"},
                                    {"fc.diff.bias", "fc gradient of bias"}}) {
    SCOPED_TRACE(tensor);
    Case c;
    c.told(tensor).values[1] += 1e-3f;
    const Level level = c.judged();
    EXPECT_FALSE(level.passed);
    EXPECT_TRUE(level.summary.starts_with(row)) << level.summary;
  }
}

TEST(OpEqual, NotANumberIsNotEqual) {
  Case c;
  c.told("fc.output").values[0] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_FALSE(c.judged().passed);
}

TEST(OpEqual, NamesTheLayerThatGetsSomethingElse) {
  Case c;
  c.compute(false);
  const Level level = c.judged();
  EXPECT_FALSE(level.passed);
  EXPECT_TRUE(contains(level.summary, "what reaches fc differs")) << level.summary;
}

// Between layers, forward and backward, and in the loss: a ten-thousandth is seen.
TEST(OpEqual, SmallFactorsBetweenLayers) {
  for (const auto& [tensor, row] : {std::pair{"fc.input", "what reaches fc"},
                                    {"norm.diff_output", "gradient that reaches norm"},
                                    {"fc.diff_output", "gradient that reaches fc"}}) {
    SCOPED_TRACE(tensor);
    Case c;
    for (float& value : c.told(tensor).values) value *= 1.0001f;
    const Level level = c.judged();
    EXPECT_FALSE(level.passed);
    const auto found = std::ranges::find(level.rows, row, &Difference::name);
    EXPECT_TRUE(found == level.rows.end() || found->excess() > 1) << "its own layer may be named before";
  }
  Case c;
  c.layers.loss *= 1.0001;
  EXPECT_TRUE(contains(c.judged().summary, "loss differs")) << c.judged().summary;
}

TEST(OpEqual, AnotherEpsilonOfANorm) {
  Case c;
  graph::Network other("other");
  models::LayerBuilder builder(other);
  const graph::Value x = other.input("image", {4, 6, 7});
  other.add("norm", ops::batch_norm({.epsilon = 1.001e-5}), {x});
  const Level level = c.judged(other);
  EXPECT_FALSE(level.passed);
  EXPECT_TRUE(contains(level.summary, "norm of small values")) << level.summary;
}

TEST(OpEqual, ChannelsInReverseOrder) {
  Case c;
  store::NamedTensor& image = c.feed.tensors[0];
  const std::vector<float> rgb = image.values;
  const std::size_t places = 6 * 7;
  for (std::size_t i = 0; i < rgb.size(); ++i)
    image.values[i] = rgb[(i / (3 * places) * 3 + 2 - i / places % 3) * places + i % places];
  c.compute();
  image.values = rgb;
  EXPECT_TRUE(contains(c.judged().summary, "BGR")) << c.judged().summary;
}

// A rounding of the mean is one of a deviation that is smaller by as much.
TEST(OpEqual, BatchNormsOfALargeMeanRoundMore) {
  Case near(0), far(1000);
  const Level a = near.judged(), b = far.judged();
  EXPECT_TRUE(a.passed) << a.summary;
  EXPECT_TRUE(b.passed) << b.summary;
  double squares = 0;
  const std::vector<float>& values = far.told("conv.output").values;
  for (const float value : values) squares += std::pow(value - 1000, 2);
  const double deviation = std::sqrt(squares / static_cast<double>(values.size()));
  for (const char* row : {"norm forward", "norm backward", "norm gradient of weight"}) {
    const double times = limit_of(b, row) / limit_of(a, row);
    EXPECT_GT(times, 0.5 * 1000 / deviation) << row;
    EXPECT_LT(times, 4 * 1000 / deviation) << row << ": the channel that varies least counts";
  }
  EXPECT_EQ(limit_of(b, "conv forward"), limit_of(a, "conv forward"));
  // That is still far less than one percent.
  for (float& value : far.told("norm.output").values) value *= 1.01f;
  EXPECT_FALSE(far.judged().passed);
}

}  // namespace
}  // namespace trireme::compare
