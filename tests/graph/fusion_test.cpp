// Fusion: what is folded, what must not be, and that results stay the same.
#include "graph/fusion.h"

#include <gtest/gtest.h>

#include <algorithm>

#include "support/core_networks.h"
#include "support/core_single_run.h"

namespace trireme::graph {
namespace {

using support::conv3;

std::vector<std::string> kinds(const Network& net) {
  std::vector<std::string> all;
  for (const Node& node : net.nodes())
    if (node.op) all.emplace_back(node.op->kind());
  return all;
}

std::int64_t count(const Network& net, const std::string& kind) {
  const std::vector<std::string> all = kinds(net);
  return std::count(all.begin(), all.end(), kind);
}

// input, `ops` one after the other, flatten, dense, softmax.
Network chain(const std::vector<ops::OpPtr>& ops) {
  Network net("chain");
  Value x = net.input("x", {4, 5, 5});
  for (std::size_t i = 0; i < ops.size(); ++i) x = net.add("op" + std::to_string(i), ops[i], {x});
  support::classify(net, x);
  return net;
}

TEST(Fusion, FoldsReluIntoWhatComesBefore) {
  EXPECT_EQ(kinds(fuse(chain({conv3(4), ops::relu()}))),
            (std::vector<std::string>{"conv", "flatten", "dense", "softmax_cross_entropy"}));
  EXPECT_EQ(count(fuse(chain({ops::batch_norm(), ops::relu()})), "relu"), 0);
  EXPECT_EQ(count(fuse(chain({ops::tanh(), ops::relu()})), "relu"), 1);
  EXPECT_EQ(count(fuse(chain({ops::relu()})), "relu"), 1) << "an input cannot take it";
  EXPECT_EQ(count(fuse(chain({conv3(4), ops::relu(), ops::relu()})), "relu"), 1);
}

TEST(Fusion, MovesAReluBehindTheMaxPoolWithTheSameBits) {
  const auto pool = ops::max_pool({.kernel = {3, 3}, .stride = {2, 2}, .padding = {1, 1}});
  const auto average = ops::average_pool({.kernel = {2, 2}});
  EXPECT_EQ(kinds(fuse(chain({conv3(4), ops::relu(), pool}))),
            (std::vector<std::string>{"conv", "max_pool", "flatten", "dense", "softmax_cross_entropy"}));
  EXPECT_EQ(count(fuse(chain({ops::relu(), ops::global_max_pool()})), "relu"), 0);
  EXPECT_EQ(count(fuse(chain({ops::relu(), average})), "relu"), 1);
  EXPECT_EQ(count(fuse(chain({ops::relu(), pool, ops::relu()})), "relu"), 1);

  for (const ops::OpPtr& before : {conv3(4), ops::batch_norm()}) {
    const Network net = chain({before, ops::relu(), pool});
    support::SingleRun plain(net, 4), folded(fuse(net), 4);
    plain.fill();
    folded.fill();
    EXPECT_EQ(plain.run().loss, folded.run().loss);
    EXPECT_EQ(support::largest_distance(folded.gradients(), plain.gradients()), 0);
  }
}

TEST(Fusion, FoldsAddAndReluIntoBatchNorm) {
  const Network net = fuse(support::small_residual());
  EXPECT_EQ(count(net, "relu"), 0);
  EXPECT_EQ(count(net, "add"), 0);
  EXPECT_EQ(count(net, "batch_norm"), 3);
  const auto last = std::find_if(net.nodes().rbegin(), net.nodes().rend(),
                                 [](const Node& node) { return node.op && node.op->kind() == "batch_norm"; });
  EXPECT_EQ(last->inputs.size(), 2u);
}

TEST(Fusion, TheAddMayComeInEitherOrder) {
  for (const bool swapped : {false, true}) {
    Network net("net");
    const Value x = net.add("conv", conv3(4), {net.input("x", {4, 5, 5})});
    const Value y = net.add("bn", ops::batch_norm(), {x});
    support::classify(net, net.add("add", ops::add(), swapped ? std::vector{x, y} : std::vector{y, x}));
    EXPECT_EQ(count(fuse(net), "add"), 0) << swapped;
  }
}

// input, convolution, concat of both, norm, ReLU and a 1x1 convolution that may be followed by more.
Network normed_concat(const ops::ConvOptions& last, bool concat = true) {
  Network net("normed concat");
  Value x = net.input("x", {4, 5, 5});
  x = net.add("conv", conv3(9), {x});
  if (concat) x = net.add("concat", ops::concat(), {x, net.add("conv2", conv3(4), {x})});
  x = net.add("relu", ops::relu(), {net.add("norm", ops::batch_norm(), {x})});
  support::classify(net, net.add("last", ops::conv(last), {x}));
  return net;
}

TEST(Fusion, FoldsANormOverAConcatIntoThe1x1ConvolutionBehindIt) {
  if (base::active_isa() == base::Isa::generic) GTEST_SKIP() << "the folded kernel needs fma instructions";
  const ops::ConvOptions one{.channels = 6, .kernel = {1, 1}, .bias = false};
  const Network net = normed_concat(one), fused = fuse(net);
  EXPECT_EQ(count(fused, "batch_norm"), 0);
  EXPECT_EQ(count(fused, "norm_conv"), 1);
  ASSERT_EQ(fused.parameters().size(), net.parameters().size());
  for (std::size_t p = 0; p < net.parameters().size(); ++p)
    EXPECT_EQ(fused.parameters()[p].name, net.parameters()[p].name);
  EXPECT_EQ(kinds(fuse(fused)), kinds(fused));
  support::SingleRun plain(net, 4), folded(fused, 4);
  plain.fill();
  folded.fill();
  EXPECT_NEAR(plain.run().loss, folded.run().loss, 1e-5);
  EXPECT_LT(support::largest_distance(folded.gradients(), plain.gradients()), 1e-4);

  EXPECT_EQ(count(fuse(normed_concat(one, false)), "norm_conv"), 0) << "no concat";
  for (const ops::ConvOptions& other : {ops::ConvOptions{.channels = 6, .kernel = {1, 1}},
                                        {.channels = 6, .kernel = {3, 3}, .bias = false},
                                        {.channels = 6, .kernel = {1, 1}, .stride = {2, 2}, .bias = false}})
    EXPECT_EQ(count(fuse(normed_concat(other)), "norm_conv"), 0);
}

TEST(Fusion, NotWhenTheValueHasAnotherReader) {
  Network net("net");
  const Value x = net.add("conv", conv3(4), {net.input("x", {4, 5, 5})});
  const Value rectified = net.add("relu", ops::relu(), {x});
  support::classify(net, net.add("add", ops::add(), {rectified, x}));
  EXPECT_EQ(count(fuse(net), "relu"), 1);

  Network norm("norm");
  const Value y = norm.add("bn", ops::batch_norm(), {norm.input("x", {4, 5, 5})});
  support::classify(norm, norm.add("twice", ops::add(), {y, y}));
  EXPECT_EQ(count(fuse(norm), "add"), 1);
}

TEST(Fusion, NotIntoThePrediction) {
  Network net("net");
  const Value predicted = net.add("fc", ops::dense({.outputs = 3}), {net.input("x", {4})});
  net.add("lost", ops::relu(), {predicted});
  net.finish(predicted, ops::squared_error());
  const Network fused = fuse(net);
  EXPECT_EQ(fused.nodes()[static_cast<std::size_t>(fused.prediction())].name, "fc");
  EXPECT_EQ(count(fused, "relu"), 1);
}

TEST(Fusion, AFoldedPredictionIsTheRelu) {
  Network net("net");
  Value x = net.add("fc", ops::dense({.outputs = 3}), {net.input("x", {4})});
  x = net.add("relu", ops::relu(), {x});
  net.finish(x, ops::squared_error());
  const Network fused = fuse(net);
  EXPECT_EQ(fused.nodes()[static_cast<std::size_t>(fused.prediction())].op->kind(), "dense");
  EXPECT_EQ(count(fused, "relu"), 0);
}

TEST(Fusion, KeepsParametersTheirOrderAndEverythingElse) {
  std::vector<Network> nets = support::small_networks();
  nets.push_back(support::resnet20());
  for (Network& net : nets) {
    net.set_oar_limit(3);
    const Network fused = fuse(net);
    ASSERT_EQ(fused.parameters().size(), net.parameters().size());
    for (std::size_t p = 0; p < net.parameters().size(); ++p) {
      const ParameterInfo &a = net.parameters()[p], &b = fused.parameters()[p];
      EXPECT_EQ(b.name, a.name);
      EXPECT_EQ(b.spec.shape, a.spec.shape);
      const auto kind = [](const Network& of, int node) {
        return of.nodes()[static_cast<std::size_t>(node)].op->kind();
      };
      if (kind(fused, b.node) != "norm_conv") {
        EXPECT_EQ(kind(fused, b.node), kind(net, a.node));
      }
    }
    EXPECT_EQ(fused.name(), net.name());
    EXPECT_EQ(fused.oar_limit(), 3);
    EXPECT_EQ(fused.inputs().size(), net.inputs().size());
    for (std::size_t n = 0; n < fused.nodes().size(); ++n)
      for (const int input : fused.nodes()[n].inputs) ASSERT_LT(input, static_cast<int>(n)) << "order of execution";
    EXPECT_EQ(kinds(fuse(fused)).size(), kinds(fused).size()) << "fusing twice changes nothing";
  }
}

TEST(Fusion, KeepsPenalties) {
  Network net("net");
  Value x = net.add("conv", conv3(4), {net.input("x", {4, 5, 5})});
  net.l2_penalty(x, 0.125);
  support::classify(net, net.add("relu", ops::relu(), {x}));
  EXPECT_EQ(fuse(net).parameters()[0].l2, 0.125);
}

TEST(Fusion, ResultsStayTheSame) {
  for (const Network& net : support::small_networks()) {
    support::SingleRun plain(net, 4), fused(fuse(net), 4);
    plain.fill();
    fused.fill();
    const ops::OarRun a = plain.run(), b = fused.run();
    EXPECT_NEAR(a.loss, b.loss, 1e-5 * std::abs(a.loss)) << net.name();
    EXPECT_EQ(a.correct, b.correct) << net.name();
    EXPECT_LT(support::largest_distance(fused.gradients(), plain.gradients()), 1e-4) << net.name();
  }
}

}  // namespace
}  // namespace trireme::graph
