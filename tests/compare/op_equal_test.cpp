// op-equal: a reference that agrees passes, and each thing that is wrong with one is named.
#include "compare/op_equal.h"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <random>

#include "compare/op_run.h"
#include "models/layers.h"
#include "ops/loss.h"

namespace trireme::compare {
namespace {

constexpr std::int64_t kSamples = 5;

// A small network and what the reference tells of it, which our own kernels make here.
struct Case {
  explicit Case(float mean = 0) : network("small") {
    models::Layers layers(network);
    graph::Value x = network.input("image", {3, 6, 7});
    x = layers.relu("relu", layers.batch_norm("norm", layers.conv("conv", x, {.channels = 4, .kernel = 3})));
    network.finish(layers.dense("fc", layers.flatten("flatten", x), 10), ops::softmax_cross_entropy());
    for (const graph::ParameterInfo& p : network.parameters())
      weights.push_back(random(p.name, p.spec.shape, p.spec.role == ops::Role::running_variance ? 5 : 0));
    find_in(weights, "conv.bias").values.assign(4, mean);
    feed = {{random("input.0", {kSamples, 3, 6, 7})}, {{0, kSamples}}};
    std::vector<float> values = feed.tensors[0].values;
    tensor::Shape shape = feed.tensors[0].shape;
    for (const graph::Node& node : network.nodes()) {
      if (!node.op || node.op->is_loss()) continue;
      const auto parameters = node.op->parameters(std::vector{shape});
      const tensor::Shape out = node.op->output(std::vector{shape});
      if (parameters.empty()) {
        values = run_forward(*node.op, {shape}, {values}, {}, nullptr);
      } else {
        std::vector<std::span<const float>> own;
        for (const auto& p : parameters) own.emplace_back(find_in(weights, node.name + "." + p.name).values);
        const store::NamedTensor diff = random(node.name + ".diff_output", out);
        OpFound found = run_op(*node.op, {shape, values, diff.values, own, node.name != "conv"});
        layers_file.tensors.push_back({node.name + ".input", shape, values});
        layers_file.tensors.push_back({node.name + ".output", out, found.dst});
        layers_file.tensors.push_back(diff);
        if (node.name != "conv") layers_file.tensors.push_back({node.name + ".diff_input", shape, found.diff_src});
        for (std::size_t p = 0; p < parameters.size(); ++p)
          if (!parameters[p].is_statistic())
            layers_file.tensors.push_back(
                {node.name + ".diff." + parameters[p].name, parameters[p].shape, found.diff_weights[p]});
        values = found.dst;
      }
      shape = out;
    }
  }

  Level judged() const { return op_equal(network, weights, feed, layers_file, nullptr); }
  store::NamedTensor& told(const std::string& name) { return find_in(layers_file.tensors, name); }

  graph::Network network;
  Tensors weights;
  Feed feed;
  store::SafetensorsFile layers_file;

 private:
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

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

double limit_of(const Level& level, const std::string& row) {
  return std::ranges::find(level.rows, row, &Difference::name)->limit;
}

TEST(OpEqual, EveryResultOfEveryLayer) {
  const Level level = Case().judged();
  EXPECT_TRUE(level.passed) << level.summary;
  EXPECT_TRUE(has(level.summary, "3 layers")) << level.summary;
  std::vector<std::string> names;
  for (const Difference& row : level.rows) names.push_back(row.name);
  EXPECT_EQ(names, (std::vector<std::string>{"conv forward", "conv gradient of weight", "conv gradient of bias",
                                             "norm forward", "norm backward", "norm gradient of weight",
                                             "norm gradient of bias", "fc forward", "fc backward",
                                             "fc gradient of weight", "fc gradient of bias"}));
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
  // Without the ReLU in the reference.
  Case c;
  store::NamedTensor &in = c.told("fc.input"), &out = c.told("fc.output");
  in.values = c.told("norm.output").values;
  const graph::Node& fc = *std::ranges::find(c.network.nodes(), "fc", &graph::Node::name);
  const std::vector<std::span<const float>> own{find(c.weights, "fc.weight")->values,
                                                find(c.weights, "fc.bias")->values};
  const OpFound found = run_op(*fc.op, {in.shape, in.values, c.told("fc.diff_output").values, own});
  out.values = found.dst;
  c.told("fc.diff.weight").values = found.diff_weights[0];
  const Level level = c.judged();
  EXPECT_FALSE(level.passed);
  EXPECT_TRUE(has(level.summary, "what reaches fc differs")) << level.summary;
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
