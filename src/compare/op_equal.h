// op-equal: every layer with parameters by itself, on what the reference feeds to it.
#pragma once

#include "compare/verdict.h"

namespace trireme::compare {

// `layers`: what PeerSide::layers() gives; `weights`: of the whole network.
Level op_equal(const graph::Network& network, const Tensors& weights, const store::SafetensorsFile& layers);

}  // namespace trireme::compare
