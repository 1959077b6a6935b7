// Updater: applies gradients to a worker's weights: optimizer step, gradient clipping and L2 penalty.
// update() is thread-safe for chunks that do not overlap; the rest has one caller at a time.
//
// With clipping, call clip() on the whole gradient before update(). penalty() is that of the weights before the update.
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
  // True when a part can be updated from its own gradient alone: no clipping, no L2 penalty.
  bool takes_any_part() const { return !clips() && !has_penalty_; }
  // Operations and bytes of one update, per parameter.
  ops::Cost cost() const;

  // The scalars of a step; steps count from 1.
  optim::StepScalars scalars(std::int64_t step, double lr) const;
  void update(const crew::Chunk& chunk, const float* gradient, const optim::StepScalars& scalars);
  // Updates any range of floats within these chunks. REQUIRES: takes_any_part().
  void update(base::Range chunks, base::Range floats, const float* gradient, const optim::StepScalars& scalars);
  // Sets scalars.clip to the factor that limits the norm of the whole gradient to max_norm.
  void clip(const float* gradient, optim::StepScalars& scalars);
  bool is_frozen(int parameter) const { return is_frozen_[static_cast<std::size_t>(parameter)]; }
  // The L2 penalty of the weights before the last update; 0 if no parameter has one.
  double penalty() const;
  // The L2 penalty of the current weights.
  double penalty_now();
  float l2_factor(int parameter) const;

  // The optimizer's state; allocated on first use, freed by give_up_state() while servers hold it.
  [[nodiscard]] OptimizerState& state();
  // Allocates the state now, so that no step does.
  void ensure_state() { (void)state(); }
  void give_up_state() { state_.reset(); }

  // Captures the updates of this step; 0: of none.
  void watch(std::int64_t step);
  // Null if this updater has captured nothing.
  const UpdateCapture* captured() const { return state_ ? state_->captured() : nullptr; }

 private:
  crew::Replica& replica_;
  std::shared_ptr<const optim::Optimizer> optimizer_;
  double max_norm_;
  std::vector<double> l2_;       // per parameter; 0 for frozen ones
  std::vector<bool> is_frozen_;  // per parameter
  bool has_penalty_ = false;
  std::optional<OptimizerState> state_;
  std::int64_t watched_step_ = 0;
  std::vector<double> sums_;  // per chunk: scratch for sums of squares
};

}  // namespace trireme::strategy
