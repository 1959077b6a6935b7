// fuse(): the fusion pass. It folds a ReLU, and an add of one more value, into the op before it where that op offers it
// (convolution, dense, batch norm), and a batch norm with ReLU over a concat into the 1x1 convolution after it.
// Parameters keep their names and order. Thread-safe.
#pragma once

#include "graph/network.h"

namespace trireme::graph {

Network fuse(const Network& network);

}  // namespace trireme::graph
