// Networks for tests: small ones with every shape of graph, and two of the size people train.
#pragma once

#include <string>
#include <vector>

#include "graph/network.h"
#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme::support {

using graph::Network;
using graph::Value;

inline ops::OpPtr conv3(std::int64_t channels, std::int64_t stride = 1, bool bias = false) {
  return ops::conv(
      {.channels = channels, .kernel = {3, 3}, .stride = {stride, stride}, .padding = {1, 1}, .bias = bias});
}

inline void classify(Network& net, Value x, std::int64_t classes = 5) {
  if (net.shape(x).rank() > 1) x = net.add("flatten", ops::flatten(), {x});
  x = net.add("fc", ops::dense({.outputs = classes}), {x});
  net.finish(x, ops::softmax_cross_entropy());
}

// Dense layers only.
inline Network mlp() {
  Network net("mlp");
  Value x = net.input("x", {7});
  x = net.add("fc1", ops::dense({.outputs = 19}), {x});
  x = net.add("relu1", ops::relu(), {x});
  x = net.add("fc2", ops::dense({.outputs = 6}), {x});
  x = net.add("tanh", ops::tanh(), {x});
  x = net.add("fc3", ops::dense({.outputs = 3}), {x});
  net.finish(x, ops::squared_error());
  return net;
}

// Convolutions, pooling and dense layers, no batch norm; odd channel counts, so blocks have padding.
// With two dense layers large enough that their gradients are made piece by piece, one with a folded ReLU.
inline Network wide_mlp() {
  Network net("wide-mlp");
  Value x = net.input("x", {301});
  x = net.add("fc1", ops::dense({.outputs = 1030}), {x});
  x = net.add("relu", ops::relu(), {x});
  x = net.add("fc2", ops::dense({.outputs = 270, .bias = false}), {x});
  x = net.add("tanh", ops::tanh(), {x});
  classify(net, x);
  return net;
}

inline Network small_cnn() {
  Network net("small-cnn");
  Value x = net.input("image", {3, 9, 7});
  x = net.add("conv1", conv3(11, 1, true), {x});
  x = net.add("relu1", ops::relu(), {x});
  x = net.add("pool1", ops::max_pool({.kernel = {2, 2}}), {x});
  x = net.add("conv2", ops::conv({.channels = 20, .kernel = {2, 2}}), {x});
  x = net.add("relu2", ops::relu(), {x});
  x = net.add("pool2", ops::average_pool({.kernel = {2, 1}}), {x});
  classify(net, x);
  return net;
}

// A residual block with batch norm, of the shapes that fuse.
inline Network small_residual() {
  Network net("small-residual");
  Value x = net.input("image", {3, 8, 8});
  x = net.add("stem", conv3(16), {x});
  x = net.add("stem_bn", ops::batch_norm(), {x});
  x = net.add("stem_relu", ops::relu(), {x});
  Value y = net.add("conv1", conv3(16), {x});
  y = net.add("bn1", ops::batch_norm(), {y});
  y = net.add("relu1", ops::relu(), {y});
  y = net.add("conv2", conv3(16), {y});
  y = net.add("bn2", ops::batch_norm(), {y});
  y = net.add("add", ops::add(), {y, x});
  y = net.add("relu2", ops::relu(), {y});
  y = net.add("pool", ops::global_average_pool(), {y});
  classify(net, y);
  return net;
}

// Batch norm with few channels, dropout and a strided convolution.
inline Network dropout_cnn() {
  Network net("dropout-cnn");
  Value x = net.input("image", {2, 6, 6});
  x = net.add("conv1", conv3(5, 2), {x});
  x = net.add("bn1", ops::batch_norm({.momentum = 0.25}), {x});
  x = net.add("relu1", ops::relu(), {x});
  x = net.add("drop1", ops::dropout(0.25, 1), {x});
  x = net.add("flatten", ops::flatten(), {x});
  x = net.add("drop2", ops::dropout(0.5, 2), {x});
  classify(net, x, 4);
  return net;
}

// Shared tensors in every way: x + x, a diamond, a value read three times, concat of one value with itself, a flatten
// beside another reader.
inline Network tangle() {
  Network net("tangle");
  const Value x = net.input("x", {4, 5, 5});
  const Value a = net.add("a", conv3(8), {x});
  const Value twice = net.add("twice", ops::add(), {a, a});
  const Value left = net.add("left", conv3(8), {twice});
  const Value right = net.add("right", ops::tanh(), {twice});
  const Value diamond = net.add("diamond", ops::add(), {left, right});
  const Value rectified = net.add("rectified", ops::relu(), {diamond});
  const Value stacked = net.add("stacked", ops::concat(), {rectified, diamond, rectified});
  const Value mixed = net.add("mixed", conv3(6), {stacked});
  const Value flat = net.add("flat", ops::flatten(), {mixed});
  const Value pooled = net.add("pooled", ops::global_average_pool(), {mixed});
  const Value side = net.add("side", ops::dense({.outputs = 9}), {net.add("flat2", ops::flatten(), {pooled})});
  const Value other = net.add("other", ops::dense({.outputs = 9}), {flat});
  const Value again = net.add("again", ops::dense({.outputs = 9, .bias = false}), {flat});
  const Value sum = net.add("sum", ops::add(), {net.add("sum1", ops::add(), {side, other}), again});
  classify(net, net.add("squash", ops::sigmoid(), {sum}), 3);
  return net;
}

// Two inputs of different rank that meet, and a branch (with parameters) that leads nowhere.
inline Network two_inputs() {
  Network net("two-inputs");
  const Value image = net.input("image", {2, 6, 6});
  const Value facts = net.input("facts", {5});
  Value x = net.add("conv", conv3(7, 1, true), {image});
  net.add("lost", ops::batch_norm(), {net.add("lost_conv", conv3(3), {x})});
  x = net.add("relu", ops::relu(), {x});
  x = net.add("pool", ops::adaptive_average_pool({2, 2}), {x});
  x = net.add("flat", ops::flatten(), {x});
  Value f = net.add("embed", ops::dense({.outputs = 10}), {facts});
  f = net.add("embed_relu", ops::relu(), {f});
  x = net.add("join", ops::concat(), {x, f});
  x = net.add("out", ops::dense({.outputs = 4}), {x});
  net.finish(x, ops::sigmoid_cross_entropy());
  return net;
}

// DenseNet's pattern: each value is read by all that follow.
inline Network dense_block() {
  Network net("dense-block");
  Value x = net.add("stem", conv3(6), {net.input("image", {3, 6, 6})});
  std::vector<Value> seen{x};
  for (const std::string n : {"1", "2", "3"}) {
    Value y = net.add("bn" + n, ops::batch_norm(), {x});
    y = net.add("relu" + n, ops::relu(), {y});
    seen.push_back(net.add("conv" + n, conv3(4), {y}));
    x = net.add("concat" + n, ops::concat(), seen);
  }
  x = net.add("pool", ops::global_average_pool(), {x});
  classify(net, x);
  return net;
}

// One spatial size, as time series have.
inline Network series() {
  Network net("series");
  Value x = net.input("series", {2, 30});
  x = net.add("conv1", ops::conv({.channels = 9, .kernel = {5}, .stride = {2}, .padding = {2}}), {x});
  x = net.add("bn1", ops::batch_norm(), {x});
  x = net.add("relu1", ops::relu(), {x});
  x = net.add("pool1", ops::max_pool({.kernel = {3}, .stride = {2}}), {x});
  classify(net, x, 2);
  return net;
}

// Dense layers without anything between, and a prediction that has a second reader.
inline Network regression() {
  Network net("regression");
  Value x = net.input("x", {6});
  x = net.add("fc1", ops::dense({.outputs = 8}), {x});
  const Value predicted = net.add("fc2", ops::dense({.outputs = 2}), {x});
  net.add("lost_relu", ops::relu(), {predicted});
  net.finish(predicted, ops::squared_error());
  return net;
}

// A dense block with bottlenecks: fused, its norms disappear into 1x1 convolutions and its concats into one memory. One
// value has a reader behind the concat that extends it.
inline Network bottleneck_block() {
  Network net("bottleneck_block");
  Value x = net.add("stem", conv3(10), {net.input("image", {2, 6, 6})});
  const auto bottleneck = [&](const std::string& name, Value from, std::int64_t channels) {
    const Value y = net.add(name + ".relu", ops::relu(), {net.add(name + ".bn", ops::batch_norm(), {from})});
    return net.add(name + ".conv", ops::conv({.channels = channels, .kernel = {1, 1}, .bias = false}), {y});
  };
  std::vector<Value> made;
  for (int layer = 0; layer < 4; ++layer) {
    const std::string name = "layer" + std::to_string(layer);
    const Value y = net.add(name + ".conv2", conv3(5), {bottleneck(name, x, 8)});
    made.push_back(x = net.add(name + ".concat", ops::concat(), {x, y}));
  }
  const Value late = bottleneck("late", made[1], 7), last = bottleneck("last", x, 7);
  classify(net, net.add("sum", ops::add(), {last, late}));
  return net;
}

inline std::vector<Network> small_networks() {
  std::vector<Network> all;
  for (Network (*make)() : {mlp, small_cnn, small_residual, dropout_cnn, tangle, two_inputs, dense_block,
                            bottleneck_block, series, regression})
    all.push_back(make());
  return all;
}

// ResNet-20 for 32 x 32 images: three stages of three residual blocks.
inline Network resnet20() {
  Network net("resnet20");
  Value x = net.add("stem", conv3(16), {net.input("image", {3, 32, 32})});
  x = net.add("stem_relu", ops::relu(), {net.add("stem_bn", ops::batch_norm(), {x})});
  for (const std::int64_t channels : {16, 32, 64})
    for (int block = 0; block < 3; ++block) {
      const std::string name = "c" + std::to_string(channels) + "." + std::to_string(block) + ".";
      const std::int64_t stride = block == 0 && channels > 16 ? 2 : 1;
      Value y = net.add(name + "conv1", conv3(channels, stride), {x});
      y = net.add(name + "relu1", ops::relu(), {net.add(name + "bn1", ops::batch_norm(), {y})});
      y = net.add(name + "bn2", ops::batch_norm(), {net.add(name + "conv2", conv3(channels), {y})});
      if (stride == 2) {
        const auto one = ops::conv({.channels = channels, .kernel = {1, 1}, .stride = {2, 2}, .bias = false});
        x = net.add(name + "down_bn", ops::batch_norm(), {net.add(name + "down", one, {x})});
      }
      x = net.add(name + "relu2", ops::relu(), {net.add(name + "add", ops::add(), {y, x})});
    }
  classify(net, net.add("pool", ops::global_average_pool(), {x}), 10);
  return net;
}

// DenseNet-40 with growth 12: three blocks of twelve layers.
inline Network densenet40() {
  Network net("densenet40");
  Value x = net.add("stem", conv3(16), {net.input("image", {3, 32, 32})});
  for (int block = 0; block < 3; ++block) {
    for (int layer = 0; layer < 12; ++layer) {
      const std::string name = "b" + std::to_string(block) + "." + std::to_string(layer) + ".";
      Value y = net.add(name + "relu", ops::relu(), {net.add(name + "bn", ops::batch_norm(), {x})});
      y = net.add(name + "conv", conv3(12), {y});
      x = net.add(name + "concat", ops::concat(), {x, y});
    }
    const std::string name = "t" + std::to_string(block) + ".";
    x = net.add(name + "relu", ops::relu(), {net.add(name + "bn", ops::batch_norm(), {x})});
    if (block == 2) break;
    x = net.add(name + "conv", ops::conv({.channels = net.shape(x)[0], .kernel = {1, 1}, .bias = false}), {x});
    x = net.add(name + "pool", ops::average_pool({.kernel = {2, 2}}), {x});
  }
  classify(net, net.add("pool", ops::global_average_pool(), {x}), 10);
  return net;
}

}  // namespace trireme::support
