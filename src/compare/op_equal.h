// op-equal: every layer with parameters by itself, on what the reference feeds to it; and what reaches each of them.
#pragma once

#include "compare/verdict.h"

namespace trireme::compare {

// `layers`: what PeerSide::layers() gives for the feed; `weights`: of the whole network; `table`: null for built-in
// choices.
Level op_equal(const graph::Network& network, const Tensors& weights, const Feed& feed,
               const store::SafetensorsFile& layers, const ops::KernelTable* table);

// By which it judges, by name.
std::map<std::string, double> op_thresholds();

}  // namespace trireme::compare
