// Updater: what a worker that holds all weights does with a gradient: the optimizer's step on chunks of it, on any
// thread; with clipping, after the norm of the whole is known; and the L2 penalty of the weights it started from.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "crew/replica.h"
#include "ops/core/op.h"
#include "strategy/common/optimizer_state.h"

namespace trireme::strategy {

class Updater {
 public:
  // max_norm 0: no clipping.
  Updater(crew::Replica& replica, std::shared_ptr<const optim::Optimizer> optimizer, double max_norm);

  const optim::Optimizer& optimizer() const { return *optimizer_; }
  bool clips() const { return max_norm_ > 0; }
  // Nothing but the gradient of a part is needed to update it: no norm, no penalty of the whole.
  bool takes_any_part() const { return !clips() && !has_penalty_; }
  // Of one update, per parameter.
  ops::Cost cost() const;

  // The numbers of a step, counted from 1.
  optim::StepScalars scalars(std::int64_t step, double lr) const;
  void update(const crew::Chunk& chunk, const float* gradient, const optim::StepScalars& scalars);
  // Of any floats of some chunks, where takes_any_part().
  void update(base::Range chunks, base::Range floats, const float* gradient, const optim::StepScalars& scalars);
  // Brings the gradient of the whole space down to the largest norm.
  void clip(const float* gradient, optim::StepScalars& scalars);
  // Of the weights that the last step started from; 0 where no parameter has one.
  double penalty() const;
  // Of the weights as they are.
  double penalty_now();
  float l2_factor(int parameter) const;

  // The optimizer's state; made when it is first asked for, and given up where servers hold it.
  [[nodiscard]] OptimizerState& state();
  // Makes it now, so that no step allocates.
  void ensure_state() { (void)state(); }
  void give_up_state() { state_.reset(); }

 private:
  crew::Replica& replica_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  double max_norm_;
  std::vector<double> l2_;  // per parameter
  bool has_penalty_ = false;
  std::optional<OptimizerState> state_;
  std::vector<double> sums_;  // per chunk
};

}  // namespace trireme::strategy
