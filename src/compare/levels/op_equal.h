// op-equal: every op by itself, forward and backward, on what the reference feeds to it: layers with parameters, norms
// on small values too, where their epsilon decides, and the ops between layers.
#pragma once

#include <functional>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// See PeerSide::probe().
using Probe = std::function<Tensors(const Tensors& inputs)>;

// `weights`: of the whole network; `layers`: what PeerSide::layers() gives for the feed; `table`: null for built-in
// choices.
Level op_equal(const graph::Network& network, const Tensors& weights, const Feed& feed, const PeerSide::Layers& layers,
               const Probe& probe, const ops::KernelTable* table);

// By which it judges, by name.
std::map<std::string, double> op_thresholds();

}  // namespace trireme::compare
