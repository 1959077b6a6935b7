// Compares the ops between layers with parameters (activations, pools, sums, the loss): runs our ops forward and
// backward on the outputs of the reference's layers, and compares the results with the inputs of the reference's next
// layers. What lies between two layers starts from the reference's values, so roundings do not accumulate over
// layers and every ReLU is open on both sides or on neither. Thread-safe.
#pragma once

#include <vector>

#include "compare/levels/verdict.h"
#include "compare/sides/sides.h"

namespace trireme::compare {

// Rows "what reaches <layer>", "loss", "gradient that reaches <layer>", in the order of computation.
std::vector<Difference> compare_between(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                                        const ops::KernelTable* table);

// REQUIRES: the input of `layer` differs. Returns the likely cause if that layer reads the batch itself, else "".
std::string cause_at_input(const graph::Network& network, const Feed& feed, const PeerSide::Layers& layers,
                           const std::string& layer);

}  // namespace trireme::compare
