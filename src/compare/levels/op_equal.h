// op-equal: compares every op by itself, forward and backward, on the reference's inputs: layers with parameters (batch
// norms also on small values, where their epsilon decides) and the ops between layers.
#pragma once

#include <functional>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// See PeerSide::probe().
using Probe = std::function<Tensors(const Tensors& inputs)>;

// `weights`: of the whole network. `layers`: the result of PeerSide::layers() for the feed. `table`: null for the
// built-in choices.
Level op_equal(const graph::Network& network, const Tensors& weights, const Feed& feed, const PeerSide::Layers& layers,
               const Probe& probe, const ops::KernelTable* table);

// The thresholds of this level, by name.
std::map<std::string, double> op_thresholds();

}  // namespace trireme::compare
