// update-equal: the optimizer by itself. Both sides update the same given weights with the same given gradients, first
// with none (weight decay and the network's penalty alone), then several times more, at last with gradients that are
// clipped; every parameter and slot is compared to rounding. Given gradients span many magnitudes, so that every
// epsilon decides somewhere; given weights are nowhere zero, so that decay shows on every parameter.
#pragma once

#include "compare/levels/verdict.h"

namespace trireme::compare {

// Of what an update makes, slots and weights; `before`: the weights (weight.<parameter>) that it started from. Slots in
// L2; weights relative to how far they move, beyond what they lose to their own rounding. `updates`: so many since both
// sides were equal.
std::vector<Difference> compare_update(const Tensors& ours, const Tensors& theirs, const Tensors& before, int updates);

// `ours` and `peer` are used up: they go on from given weights. `lr`: of the updates with gradients.
Level update_equal(const train::Experiment& experiment, OurSide& ours, PeerSide& peer, double lr);

// By which it judges, by name.
std::map<std::string, double> update_thresholds();

}  // namespace trireme::compare
