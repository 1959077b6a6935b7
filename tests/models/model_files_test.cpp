// Networks in files: TOML as people write it, network.json, and what they say about mistakes.
#include "models/files/model_file.h"

#include <gtest/gtest.h>

#include "graph/description/network_json.h"
#include "models/zoo.h"
#include "support/core_errors.h"

namespace trireme::models {
namespace {

using support::contains;

const ops::OpRegistry kOps = ops::builtin_ops();
const ModelRegistry kNamed = builtin_models();

graph::Network built(const std::string& toml, const ModelRequest& request) {
  return build_model(model_from_text(kOps, toml, "net.toml"), request);
}

std::string refused(const std::string& text, const std::string& file = "net.toml",
                    const ModelRequest& request = {.inputs = {{3, 8, 8}}, .classes = 10}) {
  return support::sentence(base::ErrorKind::user,
                           [&] { (void)build_model(model_from_text(kOps, text, file), request); });
}

TEST(NetworkJson, EveryNetworkOfTheZooSurvives) {
  for (const ModelRow& row : kNamed.rows()) {
    const graph::Network network = build_model(row);
    const std::string text = graph::network_json(network);
    const graph::Network again = graph::network_from_json(kOps, text, "network.json");
    EXPECT_EQ(graph::network_json(again), text) << row.name;
    ASSERT_EQ(again.parameters().size(), network.parameters().size()) << row.name;
    for (std::size_t i = 0; i < network.parameters().size(); ++i) {
      EXPECT_EQ(again.parameters()[i].name, network.parameters()[i].name);
      EXPECT_EQ(again.parameters()[i].l2, network.parameters()[i].l2);
    }
  }
}

TEST(ModelToml, EveryNetworkOfTheZooSurvives) {
  for (const ModelRow& row : kNamed.rows()) {
    for (const std::int64_t classes : {row.classes, std::int64_t{7}}) {
      const ModelRequest request{.inputs = row.inputs, .classes = classes};
      const graph::Network network = build_model(row, request);
      const ModelRow read = model_from_text(kOps, model_toml(row, request, network), "net.toml");
      EXPECT_EQ(read.name, row.name);
      EXPECT_EQ(read.batch, row.batch);
      EXPECT_EQ(read.inputs, row.inputs);
      EXPECT_EQ(graph::network_json(build_model(read, request)), graph::network_json(network)) << row.name;
      EXPECT_EQ(graph::network_json(build_model(read, {.inputs = row.inputs, .classes = 5})),
                graph::network_json(build_model(row, {.inputs = row.inputs, .classes = 5})))
          << row.name << ": the last layer follows the classes";
    }
  }
}

TEST(ModelToml, ChainsBranchesBlocksAndRepeats) {
  const graph::Network network = built(R"(
name = "two"
batch = 32
oars = 4
initialiser = "he"
inputs = [{name = "image"}, {name = "extra"}]
layers = [
  {op = "conv", name = "stem", inputs = "image", channels = 4, kernel = 3, padding = 1},
  {name = "stage", repeat = 2, layers = [
    {op = "conv", channels = 4, kernel = 3, padding = 1, bias = false, l2 = 1e-4},
    "batch_norm",
    {op = "add", inputs = ["batch_norm1", "block-input"]},
    "relu",
  ]},
  {op = "max_pool", kernel = "all"},
  {op = "flatten", name = "flat"},
  {op = "concat", inputs = ["flat", "extra"]},
  "dropout:rate=0.5",
  {op = "dropout", rate = 0.25},
  {op = "dense", outputs = "classes"},
]
)",
                                       {.inputs = {{3, 8, 8}, {5}}, .classes = 6});
  EXPECT_EQ(network.name(), "two");
  EXPECT_EQ(network.oar_limit(), 4);
  EXPECT_EQ(network.initialiser(), "he");
  EXPECT_EQ(network.shape({network.prediction()}), tensor::Shape{6});
  std::vector<std::string> names;
  for (const graph::Node& node : network.nodes()) names.push_back(node.name);
  EXPECT_EQ(names, (std::vector<std::string>{"image", "extra", "stem", "stage.0.conv1", "stage.0.batch_norm1",
                                             "stage.0.add1", "stage.0.relu1", "stage.1.conv1", "stage.1.batch_norm1",
                                             "stage.1.add1", "stage.1.relu1", "max_pool1", "flat", "concat1",
                                             "dropout1", "dropout2", "dense1", "target", "loss"}));
  const auto node = [&](const char* name) {
    return network.nodes()[static_cast<std::size_t>(std::ranges::find(names, name) - names.begin())];
  };
  EXPECT_EQ(node("stage.0.add1").inputs, (std::vector<int>{4, 2}));
  EXPECT_EQ(node("stage.1.add1").inputs, (std::vector<int>{8, 6}));
  EXPECT_EQ(ops::op_text(*node("stem").op), "conv:channels=4,kernel=3x3,padding=1");
  EXPECT_EQ(ops::op_text(*node("dropout1").op), "dropout:rate=0.5,stream=0");
  EXPECT_EQ(ops::op_text(*node("dropout2").op), "dropout:rate=0.25,stream=1");
  for (const graph::ParameterInfo& parameter : network.parameters())
    EXPECT_EQ(parameter.l2, parameter.name.starts_with("stage.") && contains(parameter.name, "conv1") ? 1e-4 : 0);
}

TEST(ModelToml, LayersAsTablesOfTheirOwn) {
  const graph::Network network = built(R"(
[[inputs]]
name = "row"

[[layers]]
op = "dense"
outputs = 7

[[layers]]
name = "block"
  [[layers.layers]]
  op = "relu"
  [[layers.layers]]
  op = "dense"
  outputs = "classes"
)",
                                       {.inputs = {{4}}, .classes = 3, .target = "values"});
  EXPECT_EQ(network.nodes()[static_cast<std::size_t>(network.prediction())].name, "block.dense1");
  EXPECT_EQ(network.nodes().back().op->kind(), "squared_error");
}

TEST(ModelToml, MistakesNameLineLayerAndShapes) {
  struct Mistake {
    std::string text;
    std::vector<std::string> says;
  };
  const std::vector<Mistake> mistakes{
      {"", {"net.toml", "'layers'"}},
      {"layers = []", {"line 1", "empty"}},
      {"layers = [\n\"relu\"\n", {"line 2", "array"}},
      {"layers = [\n  \"flatten\",\n  {op = \"dens\", outputs = 3},\n]", {"line 3", "dens1", "'dens'", "dense"}},
      {"layers = [\n  {op = \"dense\", outputs = 10},\n]", {"line 2", "dense1", "3x8x8"}},
      {"layers = [\n  {op = \"conv\", channels = 4, kernel = 9},\n]", {"line 2", "conv1", "3x8x8", "kernel (9)"}},
      {"layers = [\n  {op = \"conv\", chanels = 4, kernel = 3},\n]", {"line 2", "chanels", "channels"}},
      {"layers = [\n  {name = \"a\"},\n]", {"line 2", "'op'"}},
      {"layers = [\n  3,\n]", {"line 2", "a layer is"}},
      {"layers = [\n  {op = \"add\", inputs = [\"input\", \"b\"]},\n]", {"line 2", "'b'"}},
      {"layers = [\n  {op = \"relu\", inputs = 3},\n]", {"line 2", "inputs"}},
      {"layers = [\n  {op = \"relu\", inputs = []},\n]", {"line 2", "empty"}},
      {"layers = [\n  {op = \"relu\", name = \"a\"},\n  {op = \"relu\", name = \"a\"},\n]",
       {"line 3", "two nodes", "'a'"}},
      {"layers = [\n  {repeat = 2, layers = [\"relu\"]},\n]", {"line 2", "'name'"}},
      {"layers = [\n  {name = \"b\", repeat = 0, layers = [\"relu\"]},\n]", {"line 2", "repeat"}},
      {"layers = [\n  {name = \"b\", often = 2, layers = [\"relu\"]},\n]", {"line 2", "often"}},
      {"layers = [\n  \"flatten\", \"dense:outputs=9\",\n]", {"9", "10"}},
      {"layers = [\"flatten\", \"dense:outputs=classes\"]\nloss = \"relu\"", {"line 2", "no loss"}},
      {"layers = [\"softmax_cross_entropy\"]", {"line 1", "loss ="}},
      {"layer = [\"relu\"]", {"line 1", "layer", "layers"}},
      {"batch = 0\nlayers = [\"relu\"]", {"line 1", "batch"}},
      {"batch = \"many\"\nlayers = [\"relu\"]", {"line 1", "batch"}},
      {"initialiser = \"hee\"\nlayers = [\"relu\"]", {"line 1", "hee", "he"}},
      {"inputs = [{name = \"a\"}, {name = \"b\"}]\nlayers = [\"relu\"]", {"line 1", "2 inputs", "1"}},
      {"inputs = [{name = \"a\", shape = [3, 0]}]\nlayers = [\"relu\"]", {"line 1", "shape"}},
      {"prediction = \"x\"\nlayers = [\"relu\"]", {"line 1", "'x'"}},
      {"layers = [\n  {op = \"conv\", channels = 1000000000, kernel = [8, 8], padding = 1000000000},\n]", {"line 2"}},
      {"layers = [\n  {op = \"relu\", l2 = -1},\n]", {"line 2", "l2"}},
      {"layers = [\n  {op = \"dropout\", rate = \"a,b\"},\n]", {"line 2", "comma"}},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string sentence = refused(mistake.text);
    for (const std::string& part : mistake.says)
      EXPECT_TRUE(contains(sentence, part)) << mistake.text << "\n" << sentence << "\nwithout " << part;
  }
}

TEST(NetworkJson, MistakesNameThePointer) {
  const graph::Network network = build_model("lenet5", {.inputs = {{3, 32, 32}}, .classes = 10});
  const std::string good = graph::network_json(network);
  const auto with = [&](const std::string& from, const std::string& to) {
    const std::size_t at = good.find(from);
    EXPECT_NE(at, std::string::npos) << from;
    return std::string(good).replace(at, from.size(), to);
  };
  const auto expect = [&](const std::string& text, const std::vector<std::string>& says) {
    const std::string sentence = refused(text, "network.json", {.inputs = {{3, 32, 32}}, .classes = 10});
    for (const std::string& part : says) EXPECT_TRUE(contains(sentence, part)) << sentence << "\nwithout " << part;
  };
  expect("", {"network.json", "JSON object"});
  expect("[]", {"JSON object"});
  expect(good.substr(0, good.size() / 2), {"JSON object"});
  expect(with("\"format\": 1", "\"format\": 2"), {"format 2", "up to format 1"});
  expect(with("\"format\": 1", "\"format\": \"x\""), {"/format"});
  expect(with("\"oar_limit\"", "\"oar_limits\""), {"oar_limits", "oar_limit"});
  expect(with("\"op\":\"conv\"", "\"op\":\"cnv\""), {"/nodes/0", "cnv", "conv"});
  expect(with("\"channels\":6", "\"channels\":{}"), {"/nodes/0/options/channels"});
  expect(with("\"channels\":6", "\"channels\":8"), {"/nodes/0/shape", "8x28x28", "6x28x28"});
  expect(with("\"inputs\":[\"input\"]", "\"inputs\":[\"imput\"]"), {"/nodes/0/inputs/0", "imput", "input"});
  expect(with("\"inputs\":[\"input\"]", "\"inputs\":[]"), {"/nodes/0/inputs"});
  expect(with("\"name\":\"tanh1\"", "\"name\":\"conv1\""), {"/nodes/1", "two nodes"});
  expect(with("\"prediction\": \"fc3\"", "\"prediction\": \"fc\""), {"/prediction", "'fc'"});
  expect(with("\"op\":\"softmax_cross_entropy\"", "\"op\":\"relu\""), {"/loss/op", "no loss"});
  expect(with("\"shape\":[3,32,32]", "\"shape\":[3,0,32]"), {"/inputs/0/shape"});
  expect(with("\"shape\":[3,32,32]", "\"shape\":[3,32000000000,32000000000]"), {"/inputs/0"});
}

TEST(NetworkJson, DataMustFit) {
  const std::string text = graph::network_json(build_model("lenet5", {.inputs = {{3, 32, 32}}, .classes = 10}));
  EXPECT_TRUE(contains(refused(text, "n.json", {.inputs = {{1, 28, 28}}, .classes = 10}), "1x28x28"));
  EXPECT_TRUE(contains(refused(text, "n.json", {.inputs = {{3, 32, 32}}, .classes = 12}), "12 classes"));
  EXPECT_TRUE(
      contains(refused(text, "n.json", {.inputs = {{3, 32, 32}}, .classes = 10, .target = "values"}), "values"));
}

}  // namespace
}  // namespace trireme::models
