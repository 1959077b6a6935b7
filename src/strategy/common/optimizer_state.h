// OptimizerState: an update rule with its state for a range of the parameter space (a worker: all of it; a server: a
// shard).
// Updates of ranges that do not overlap may run concurrently; otherwise one caller at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/oar_tree.h"
#include "optim/optimizer.h"
#include "strategy/common/update_capture.h"
#include "tensor/buffer.h"

namespace trireme::strategy {

class OptimizerState {
 public:
  OptimizerState(std::shared_ptr<const optim::Optimizer> optimizer, base::Range floats);

  const optim::Optimizer& optimizer() const { return *optimizer_; }
  base::Range floats() const { return floats_; }

  // `weights` and `gradient` point to float `offset` of the space.
  void update(std::int64_t offset, std::int64_t count, float* weights, const float* gradient,
              const optim::StepScalars& scalars, float l2);

  // Captures the updates of this step; 0: of none.
  void watch(std::int64_t step);
  // Null if none was ever asked for.
  const UpdateCapture* captured() const { return capture_.get(); }

  int slots() const { return static_cast<int>(state_.size()); }
  std::string slot_name(int slot) const { return optimizer_->slot_names()[static_cast<std::size_t>(slot)]; }
  // The floats of a slot for a part of the space.
  std::span<float> slot(int slot, base::Range part);
  std::span<float> slot(int slot) { return this->slot(slot, floats_); }
  void clear();

 private:
  std::shared_ptr<const optim::Optimizer> optimizer_;
  base::Range floats_;
  std::vector<tensor::Buffer> state_;  // per slot
  std::unique_ptr<UpdateCapture> capture_;
};

}  // namespace trireme::strategy
