// Networks: the builder, the ops and the losses that a network is made of, and the row by which a program knows it.
//
//   trireme::Network small(const trireme::ModelRequest& data) {
//     trireme::Network net("small");
//     auto x = net.input("image", data.inputs[0]);
//     x = net.add("conv", trireme::conv({.channels = 8, .kernel = {3, 3}}), {x});
//     x = net.add("relu", trireme::relu(), {x});
//     x = net.add("fc", trireme::dense({.outputs = data.classes}), {net.add("flatten", trireme::flatten(), {x})});
//     net.finish(x, trireme::loss_for(data));
//     return net;
//   }
//
// A Network belongs to one thread while it is built. A ModelRow's `make` is called from any thread, more than once, and
// must make an equal network each time. Ops are immutable and may be shared.
#pragma once

#include "graph/network.h"
#include "models/model.h"
#include "ops/activation/activation.h"
#include "ops/activation/dropout.h"
#include "ops/conv/conv.h"
#include "ops/dense/dense.h"
#include "ops/loss/loss.h"
#include "ops/merge/flatten.h"
#include "ops/merge/merge.h"
#include "ops/norm/batch_norm.h"
#include "ops/pool/pool.h"

namespace trireme {

using graph::Network;
using graph::Value;
using models::loss_for;
using models::ModelRequest;
using models::ModelRow;
using ops::OpPtr;
using tensor::Shape;

// Convolution, dense layers, batch norm, dropout.
using ops::batch_norm;
using ops::BatchNormOptions;
using ops::conv;
using ops::ConvOptions;
using ops::dense;
using ops::DenseOptions;
using ops::dropout;
// Activations.
using ops::relu;
using ops::sigmoid;
using ops::tanh;
// Pools.
using ops::adaptive_average_pool;
using ops::average_pool;
using ops::global_average_pool;
using ops::global_max_pool;
using ops::max_pool;
using ops::PoolOptions;
// Joining and reshaping.
using ops::add;
using ops::concat;
using ops::flatten;
// Losses; loss_for() chooses the one for the data's targets.
using ops::sigmoid_cross_entropy;
using ops::softmax_cross_entropy;
using ops::squared_error;

}  // namespace trireme
