// update-equal: compares the optimizer by itself. Both sides update the same weights with the same gradients: first
// zero gradients (weight decay and the network's penalty alone), then random ones, and at last clipped ones. Every
// parameter and slot must agree to rounding. The gradients span many orders of magnitude, so that every epsilon decides
// somewhere; no weight is zero, so that decay shows on every parameter.
#pragma once

#include "compare/levels/verdict.h"

namespace trireme::compare {

// Compares the results of an update: slots and weights. `before`: the weights (weight.<parameter>) before it. Slots are
// compared in L2; weights relative to their move, after subtracting what their own rounding hides. `updates`: number of
// updates since both sides were equal.
std::vector<Difference> compare_update(const Tensors& ours, const Tensors& theirs, const Tensors& before, int updates);

// Overwrites the state of `ours` and `peer`. `lr`: for the updates with gradients.
Level update_equal(const train::Experiment& experiment, OurSide& ours, PeerSide& peer, double lr);

// The thresholds of this level, by name.
std::map<std::string, double> update_thresholds();

}  // namespace trireme::compare
