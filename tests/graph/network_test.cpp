// The builder: errors that name the node, shapes, parameters, the default number of oars.
#include "graph/network.h"

#include <gtest/gtest.h>

#include "support/core_errors.h"
#include "support/core_networks.h"

namespace trireme::graph {
namespace {

using base::ErrorKind;
using support::contains;
using support::sentence;

TEST(Network, ShapesAndParametersInOrderOfDefinition) {
  const Network net = support::small_residual();
  ASSERT_EQ(net.inputs().size(), 1u);
  const std::vector<std::string> first{"stem.weight",          "stem_bn.weight",      "stem_bn.bias",
                                       "stem_bn.running_mean", "stem_bn.running_var", "conv1.weight"};
  ASSERT_GE(net.parameters().size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) EXPECT_EQ(net.parameters()[i].name, first[i]);
  EXPECT_EQ(net.parameters().back().name, "fc.bias");
  // Three convolutions without bias, three batch norms (two trained parameters a channel), one dense layer.
  EXPECT_EQ(net.parameter_count(), 16 * 3 * 9 + 2 * 16 * 16 * 9 + 3 * 2 * 16 + 5 * 16 + 5);
  EXPECT_EQ(net.nodes()[static_cast<std::size_t>(net.prediction())].shape, Shape{5});
  EXPECT_EQ(net.nodes()[static_cast<std::size_t>(net.target())].shape, Shape{1});
}

TEST(Network, TwoNodesOfOneName) {
  Network net("twins");
  const Value x = net.input("x", {4});
  net.add("fc", ops::dense({.outputs = 2}), {x});
  const std::string text = sentence(ErrorKind::user, [&] { net.add("fc", ops::relu(), {x}); });
  EXPECT_TRUE(contains(text, "'twins'") && contains(text, "'fc'")) << text;
  sentence(ErrorKind::user, [&] { net.input("x", {3}); });
}

TEST(Network, ValuesThatDoNotBelongToIt) {
  Network other("other");
  Value far = other.input("x", {4});
  for (int i = 0; i < 5; ++i) far = other.add("relu" + std::to_string(i), ops::relu(), {far});
  Network net("net");
  net.input("x", {4});
  for (const Value foreign : {far, Value{}, Value{1}}) {
    const std::string text = sentence(ErrorKind::user, [&] { net.add("lonely", ops::relu(), {foreign}); });
    EXPECT_TRUE(contains(text, "'lonely'") && contains(text, "'net'")) << text;
  }
}

TEST(Network, ShapesThatDoNotFitNameTheNode) {
  Network net("net");
  const Value image = net.input("image", {3, 8, 8});
  const Value row = net.input("row", {10});
  const auto expect = [&](const std::string& name, const ops::OpPtr& op, const std::vector<Value>& inputs) {
    const std::string text = sentence(ErrorKind::user, [&] { net.add(name, op, inputs); });
    EXPECT_TRUE(contains(text, "'" + name + "'") && contains(text, "'net'")) << text;
  };
  expect("wrong_dense", ops::dense({.outputs = 2}), {image});
  expect("wrong_add", ops::add(), {image, row});
  expect("wrong_concat", ops::concat(), {image, row});
  expect("wrong_conv", ops::conv({.channels = 4, .kernel = {9, 9}}), {image});
  expect("wrong_rank", ops::conv({.channels = 4, .kernel = {3, 3}}), {row});
  expect("wrong_pool", ops::max_pool({.kernel = {10, 10}}), {image});
  EXPECT_EQ(net.nodes().size(), 2u) << "a refused node leaves nothing behind";
  EXPECT_TRUE(net.parameters().empty());
}

TEST(Network, ImpossibleInputs) {
  Network net("net");
  for (const Shape& shape : {Shape{0}, Shape{3, -1, 4}}) {
    const std::string text = sentence(ErrorKind::user, [&] { net.input("x", shape); });
    EXPECT_TRUE(contains(text, "'x'")) << text;
  }
}

TEST(Network, FinishNeedsALossAndAFittingPrediction) {
  Network net("net");
  const Value image = net.input("image", {3, 8, 8});
  sentence(ErrorKind::internal, [&] { net.finish(image, ops::relu()); });
  const std::string text = sentence(ErrorKind::user, [&] { net.finish(image, ops::softmax_cross_entropy()); });
  EXPECT_TRUE(contains(text, "'net'")) << text;
}

TEST(Network, FinishRefusesForeignPredictions) {
  for (const Value foreign : {Value{}, Value{7}}) {
    Network net("net");
    net.input("x", {4});
    const std::string text = sentence(ErrorKind::user, [&] { net.finish(foreign, ops::squared_error()); });
    EXPECT_TRUE(contains(text, "'net'")) << text;
  }
}

TEST(Network, FinishesOnce) {
  Network net("net");
  const Value x = net.input("x", {4});
  net.finish(x, ops::squared_error());
  sentence(ErrorKind::internal, [&] { net.finish(x, ops::squared_error()); });
}

TEST(Network, PenaltiesGoToWeightsOnly) {
  Network net("net");
  Value x = net.input("x", {4});
  x = net.add("fc", ops::dense({.outputs = 2}), {x});
  net.l2_penalty(x, 0.5);
  net.l2_penalty(x, 0.25);
  EXPECT_EQ(net.parameters()[0].l2, 0.75);
  EXPECT_EQ(net.parameters()[1].l2, 0);
}

TEST(Network, CostOfADenseLayer) {
  Network net("net");
  Value x = net.input("x", {100});
  x = net.add("fc", ops::dense({.outputs = 50}), {x});
  net.finish(x, ops::squared_error());
  const double one = net.cost(1).flops, ten = net.cost(10).flops;
  EXPECT_GE(ten, 2.0 * 10 * 100 * 50);
  EXPECT_LE(ten, 2.2 * 10 * 100 * 50);
  EXPECT_NEAR(ten / one, 10, 0.5);
}

TEST(DefaultOars, IsALeastPowerOfTwo) {
  Network net("net");
  const std::vector<std::pair<std::int64_t, int>> expected{{1, 1},  {7, 1},   {8, 1},    {15, 1},   {16, 2},
                                                           {23, 2}, {24, 2},  {31, 2},   {32, 4},   {63, 4},
                                                           {64, 8}, {127, 8}, {128, 16}, {256, 16}, {100'000, 16}};
  for (const auto& [batch, oars] : expected) EXPECT_EQ(default_oars(net, batch), oars) << batch;
  net.set_oar_limit(6);
  EXPECT_EQ(default_oars(net, 1024), 4);
  EXPECT_EQ(default_oars(net, 16), 2);
  net.set_oar_limit(1);
  EXPECT_EQ(default_oars(net, 1024), 1);
}

}  // namespace
}  // namespace trireme::graph
