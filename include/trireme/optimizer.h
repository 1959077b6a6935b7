// Optimizers of your own: an update rule over spans of weights, and the row that gives it a name.
//
//   struct SignRule {
//     static constexpr int kSlots = 0;  // floats of state per weight
//     float minus_lr;
//     TRIREME_INLINE void step(float& w, float g, float*) const { w += g > 0 ? minus_lr : g < 0 ? -minus_lr : 0.0f; }
//   };
//   class Sign : public trireme::Optimizer {
//     ...
//     void update(float* weights, const float* gradient, std::span<float* const> state, std::int64_t count,
//                 const trireme::StepScalars& scalars, float) const override {
//       trireme::run_update(SignRule{static_cast<float>(-scalars.lr)}, weights, gradient, state, count);
//     }
//   };
//
// An Optimizer holds options only and is immutable: threads and servers call update() at once, each on other weights.
// The rule works element by element, so any split of the weights gives the same bits, and leaves zeros where weight,
// gradient and state are zero.
#pragma once

#include "optim/optimizer.h"
#include "optim/update_kernel.h"

namespace trireme {

using base::Spec;
using optim::CommonOptions;
using optim::Optimizer;
using optim::OptimizerRow;
using optim::StepScalars;

// The loop over all weights, for a rule as above.
using optim::run_update;

// The options that every rule has, and others that many have.
using optim::read_common;
using optim::read_decay_rate;
using optim::read_epsilon;

}  // namespace trireme
