// The ops between layers with parameters (activations, pools, sums, the loss): forward and backward of our ops on what
// the reference's layers put out, compared with what reaches the reference's next layers. Every stretch starts from the
// reference's own values, so roundings do not add up over layers and no ReLU is open on one side only.
#pragma once

#include <vector>

#include "compare/levels/verdict.h"
#include "compare/sides/sides.h"

namespace trireme::compare {

// Rows "what reaches <layer>", "loss", "gradient that reaches <layer>", in the order of computation.
std::vector<Difference> compare_between(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                                        const ops::KernelTable* table);

// The first layers' inputs are the network's: what may have happened to them, where they differ; else empty.
std::string cause_at_input(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                           const std::string& layer);

}  // namespace trireme::compare
