// freeze_layers(): --freeze, the layers that keep their weights in training. Thread-safe.
//
// Weights, biases, scales and shifts stay as they are, whatever the optimizer; running statistics of batch norm go on
// moving, as in PyTorch with requires_grad = False.
#pragma once

#include <string>

#include "graph/network.h"

namespace trireme::train {

// Freezes the parameters that `text` names: "conv1,stage1.*", or all others: "all-but:fc". A name means a layer, all
// layers below it ("layer1"), or one parameter ("conv1.bias"); * stands for any text. A name that matches nothing, and
// a network with nothing left to train, are user errors. Returns a sentence for the user; empty without names.
std::string freeze_layers(const std::string& option, const std::string& text, graph::Network& network);

}  // namespace trireme::train
