// The zoo as a user meets it: names, defaults, targets, and what is said when something does not fit.
#include "models/zoo.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/error.h"
#include "models/layer_builder.h"
#include "support/same_op.h"

namespace trireme::models {
namespace {

const ModelRegistry kModels = builtin_models();

// The sentence of the user error that a call ends with, or empty when it does not.
template <class F>
std::string user_error_of(const F& call) {
  try {
    call();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.kind(), base::ErrorKind::user) << error.what();
    return error.what();
  }
  return "";
}

std::string build_error(const std::string& name, const ModelRequest& options) {
  return user_error_of([&] { build_model(name, options); });
}

void expect_says(const std::string& sentence, const std::string& part) {
  EXPECT_NE(sentence.find(part), std::string::npos) << "'" << sentence << "' should say: " << part;
}

TEST(Zoo, ListsEveryModelOnce) {
  std::set<std::string> names;
  for (const ModelRow& model : kModels.rows()) {
    EXPECT_TRUE(names.insert(model.name).second) << model.name;
    EXPECT_FALSE(model.summary.empty());
    EXPECT_GT(model.batch, 0);
    EXPECT_EQ(&kModels.get(model.name), &model);
  }
  for (const char* name :
       {"lenet5", "mnist-cnn", "alexnet", "resnet18", "resnet50", "resnet18-cifar", "resnet20-cifar", "resnet50-cifar",
        "resnet56-cifar", "resnet56v2-cifar", "densenet40-12", "redshift-cnn", "landcover-cnn"})
    EXPECT_TRUE(names.contains(name)) << name;
}

TEST(Zoo, BuildsEveryModelWithItsDefaults) {
  for (const ModelRow& model : kModels.rows()) {
    const graph::Network net = build_model(model.name);
    EXPECT_EQ(net.name(), model.name);
    ASSERT_EQ(net.inputs().size(), model.inputs.size());
    for (std::size_t i = 0; i < model.inputs.size(); ++i)
      EXPECT_EQ(net.shape({net.inputs()[i]}), model.inputs[i]) << model.name;
    EXPECT_EQ(net.shape({net.prediction()}), tensor::Shape{model.classes}) << model.name;
    EXPECT_EQ(net.shape({net.target()}), tensor::Shape{1}) << model.name;
    EXPECT_TRUE(net.nodes()[static_cast<std::size_t>(net.loss())].op->is_loss());
    std::set<std::string> parameters, nodes;
    for (const auto& parameter : net.parameters())
      EXPECT_TRUE(parameters.insert(parameter.name).second) << parameter.name;
    for (const auto& node : net.nodes()) EXPECT_TRUE(nodes.insert(node.name).second) << node.name;
    // Nothing is left over: every value but the target and the loss is used by a later node.
    std::set<int> used{net.target(), net.loss()};
    for (const auto& node : net.nodes()) used.insert(node.inputs.begin(), node.inputs.end());
    EXPECT_EQ(used.size(), net.nodes().size()) << model.name;
  }
}

// A network can be written down and read again: each of its ops is a row of the registry and survives as text.
TEST(Zoo, EveryOpSurvivesAsText) {
  const ops::OpRegistry registry = ops::builtin_ops();
  for (const ModelRow& model : kModels.rows()) {
    const graph::Network net = build_model(model.name);
    for (const graph::Node& node : net.nodes()) {
      if (!node.op) continue;
      SCOPED_TRACE(model.name + ", " + node.name + ": " + ops::op_text(*node.op));
      std::vector<tensor::Shape> src;
      for (const int input : node.inputs) src.push_back(net.shape({input}).with_batch(2));
      support::expect_same_op(*node.op, *ops::make_op(registry, ops::op_text(*node.op)), src);
    }
  }
}

// Strides and padding, which parameter counts do not see: the published sizes after each stage.
TEST(Zoo, StagesHaveTheirPublishedSizes) {
  struct Stage {
    std::string model, node;
    tensor::Shape shape;
  };
  const std::vector<Stage> cases = {
      {"lenet5", "conv1", {6, 28, 28}},
      {"lenet5", "pool2", {16, 5, 5}},
      {"mnist-cnn", "pool", {64, 12, 12}},
      {"alexnet", "features.0", {64, 15, 15}},
      {"alexnet", "features.12", {256, 1, 1}},
      {"alexnet", "avgpool", {256, 6, 6}},
      {"resnet18", "relu", {64, 16, 16}},
      {"resnet18", "layer1.1.relu", {64, 8, 8}},
      {"resnet18", "layer4.1.relu", {512, 1, 1}},
      {"resnet50", "layer1.2.relu", {256, 8, 8}},
      {"resnet50", "layer2.0.conv1", {128, 8, 8}},  // the stride is in the 3x3 convolution
      {"resnet50", "layer2.0.conv2", {128, 4, 4}},
      {"resnet50", "layer4.2.relu", {2048, 1, 1}},
      {"resnet18-cifar", "layer1.1.relu", {64, 32, 32}},
      {"resnet18-cifar", "layer4.1.relu", {512, 4, 4}},
      {"resnet50-cifar", "layer1.7.relu", {16, 32, 32}},
      {"resnet50-cifar", "layer2.7.relu", {32, 16, 16}},
      {"resnet50-cifar", "layer3.7.relu", {64, 8, 8}},
      {"resnet56v2-cifar", "layer1.5.add", {64, 32, 32}},
      {"resnet56v2-cifar", "layer2.5.add", {128, 16, 16}},
      {"resnet56v2-cifar", "layer3.5.add", {256, 8, 8}},
      {"densenet40-12", "features.transition1.pool", {48, 14, 14}},
      {"densenet40-12", "features.denseblock3.denselayer6.concat", {132, 7, 7}},
      {"redshift-cnn", "pool3", {16, 218}},
      {"resnet1d", "relu", {32, 900}},
      {"resnet1d", "layer1.1.relu", {32, 900}},
      {"resnet1d", "layer3.1.relu", {128, 225}},
      {"landcover-cnn", "concat", {768, 8, 8}},
      {"landcover-cnn", "trunk.relu2", {512, 8, 8}},
  };
  for (const Stage& test : cases) {
    const graph::Network net = build_model(test.model);
    const auto node = std::find_if(net.nodes().begin(), net.nodes().end(),
                                   [&](const graph::Node& candidate) { return candidate.name == test.node; });
    ASSERT_NE(node, net.nodes().end()) << test.model << " " << test.node;
    EXPECT_EQ(node->shape.text(), test.shape.text()) << test.model << " " << test.node;
  }
}

TEST(Zoo, ClassesAndTargetsDecideTheHead) {
  const auto target = [](const ModelRequest& options) {
    const graph::Network net = build_model("lenet5", options);
    return net.shape({net.target()});
  };
  EXPECT_EQ(target({.classes = 100}), tensor::Shape{1});
  EXPECT_EQ(target({.classes = 19, .target = "labels"}), tensor::Shape{19});
  EXPECT_EQ(target({.classes = 1, .target = "labels"}), tensor::Shape{1});
  EXPECT_EQ(target({.classes = 3, .target = "values"}), tensor::Shape{3});
  const graph::Network net = build_model("resnet18", {.classes = 100});
  EXPECT_EQ(net.shape({net.prediction()}), tensor::Shape{100});
}

TEST(Zoo, NamesAreThoseOfTorchvision) {
  const auto has = [](const std::string& model, const std::string& name) {
    const graph::Network net = build_model(model);
    const auto& all = net.parameters();
    return std::any_of(all.begin(), all.end(), [&](const auto& parameter) { return parameter.name == name; });
  };
  EXPECT_TRUE(has("resnet18", "conv1.weight"));
  EXPECT_FALSE(has("resnet18", "conv1.bias"));
  EXPECT_TRUE(has("resnet18", "layer2.0.downsample.0.weight"));
  EXPECT_FALSE(has("resnet18", "layer1.0.downsample.0.weight"));
  EXPECT_TRUE(has("resnet50", "layer1.0.downsample.0.weight"));
  EXPECT_TRUE(has("resnet50", "layer4.2.bn3.running_mean"));
  EXPECT_TRUE(has("resnet50", "fc.bias"));
  EXPECT_TRUE(has("alexnet", "features.0.weight"));
  EXPECT_TRUE(has("alexnet", "features.10.bias"));
  EXPECT_TRUE(has("alexnet", "classifier.1.weight"));
  EXPECT_TRUE(has("alexnet", "classifier.6.bias"));
}

TEST(Zoo, WeightHeavyNetworksRowFewOars) {
  EXPECT_EQ(graph::default_oars(build_model("alexnet"), 1024), 4);
  EXPECT_EQ(graph::default_oars(build_model("landcover-cnn"), 1024), 8);
  EXPECT_EQ(graph::default_oars(build_model("resnet18"), 1024), 16);
}

TEST(Zoo, OnlyResNetV2IsPenalisedAndOnlyItsKernels) {
  for (const ModelRow& model : kModels.rows()) {
    int kernels = 0;
    const graph::Network net = build_model(model.name);
    for (const auto& parameter : net.parameters()) {
      const bool kernel = parameter.spec.role == ops::Role::weights && parameter.spec.shape.rank() == 4;
      const bool penalised = model.name == "resnet56v2-cifar" && kernel;
      kernels += penalised ? 1 : 0;
      EXPECT_EQ(parameter.l2, penalised ? 1e-4 : 0.0) << model.name << " " << parameter.name;
    }
    if (model.name == "resnet56v2-cifar") {
      EXPECT_EQ(kernels, 1 + 18 * 3 + 3);
    }
  }
}

// Two dropouts with one stream would drop the same positions.
TEST(Zoo, DropoutsDropDifferently) {
  for (const char* name : {"mnist-cnn", "alexnet", "densenet40-12"}) {
    std::set<std::vector<bool>> masks;
    std::size_t dropouts = 0;
    const graph::Network net = build_model(name);
    for (const auto& node : net.nodes()) {
      if (!node.op || node.op->kind() != "dropout") continue;
      ++dropouts;
      const std::int64_t count = 1000, sample = 7;
      ops::Reference reference;
      reference.shapes = {{1, count}};
      reference.src = {std::vector<double>(count, 1.0)};
      reference.dst.resize(count);
      reference.run.seed = 1;
      reference.run.sample_indices = {&sample, 1};
      node.op->reference_forward(reference);
      std::vector<bool> mask;
      for (const double value : reference.dst) mask.push_back(value != 0);
      EXPECT_GT(std::count(mask.begin(), mask.end(), false), 20) << name;
      masks.insert(mask);
    }
    EXPECT_EQ(masks.size(), dropouts) << name;
    EXPECT_EQ(dropouts, name == std::string("densenet40-12") ? 36u : 2u);
  }
}

TEST(Zoo, UnknownNamesGetASuggestion) {
  expect_says(user_error_of([] { (void)kModels.get("resnet-18"); }), "did you mean 'resnet18'");
  expect_says(build_error("lenet", {}), "did you mean 'lenet5'");
  expect_says(build_error("", {}), "lenet5");
  expect_says(build_error("lenet5", {.target = "clases"}), "did you mean 'classes'");
}

TEST(Zoo, WrongInputsSayWhatTheModelTakes) {
  expect_says(build_error("lenet5", {.inputs = {{28, 28}}}), "'lenet5' takes one input like 3x32x32");
  expect_says(build_error("lenet5", {.inputs = {{28, 28}}}), "the data gives one (28x28)");
  expect_says(build_error("lenet5", {.inputs = {{3, 32, 32}, {3, 32, 32}}}), "gives 2 (3x32x32, 3x32x32)");
  expect_says(build_error("landcover-cnn", {.inputs = {{3, 64, 64}}}), "takes 3 inputs like 4x64x64, 2x64x64, 1x64x64");
  expect_says(build_error("redshift-cnn", {.inputs = {{1, 28, 28}}}), "like 1x1800");
  expect_says(build_error("lenet5", {.inputs = {{3, 0, 32}}}), "3x0x32");
  expect_says(build_error("lenet5", {.classes = -1}), "-1 classes");
}

TEST(Zoo, TooSmallInputsNameTheLayer) {
  expect_says(build_error("alexnet", {.inputs = {{3, 32, 32}}}), "'features.12'");
  EXPECT_EQ(build_error("alexnet", {.inputs = {{3, 63, 63}}}), "");
  expect_says(build_error("alexnet", {.inputs = {{3, 62, 62}}}), "'features.12'");
  expect_says(build_error("mnist-cnn", {.inputs = {{1, 4, 4}}}), "'conv2'");
  expect_says(build_error("redshift-cnn", {.inputs = {{1, 20}}}), "'conv2'");
  expect_says(build_error("landcover-cnn", {.inputs = {{4, 64, 64}, {2, 64, 64}, {1, 32, 32}}}), "'concat'");
}

// A model of a user's own program, whose function makes the given network.
std::string own_error(const graph::Network& made) {
  const ModelRow row{"mine", "", {{2, 3}}, 4, 8, [&](const ModelRequest&) { return made; }};
  return user_error_of([&] { build_model(row); });
}

TEST(OwnModel, MustFitTheRequest) {
  const auto network = [](const tensor::Shape& input, std::int64_t outputs) {
    graph::Network net("mine");
    LayerBuilder layers(net);
    const graph::Value x = layers.dense("fc", layers.flatten("flatten", net.input("x", input)), outputs);
    return std::pair(net, x);
  };
  const auto finished = [&](const tensor::Shape& input, std::int64_t outputs) {
    auto [net, x] = network(input, outputs);
    net.finish(x, loss_for({}));
    return net;
  };
  EXPECT_EQ(own_error(finished({2, 3}, 4)), "");
  expect_says(own_error(network({2, 3}, 4).first), "'mine' is not complete");
  expect_says(own_error(finished({3, 3}, 4)), "has the inputs 3x3, but the data gives 2x3");
  expect_says(own_error(finished({2, 3}, 5)), "predicts 5 values per sample, but the data has 4 classes");
  EXPECT_FALSE(is_in_zoo("mine"));
  EXPECT_TRUE(is_in_zoo("lenet5"));
}

}  // namespace
}  // namespace trireme::models
