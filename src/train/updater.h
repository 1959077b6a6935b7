// Updater: turns the crew's summed gradient into a step of the optimizer: penalty, clipping, update, on all threads.
#pragma once

#include <memory>
#include <vector>

#include "crew/crew.h"
#include "optim/optimizer.h"
#include "store/checkpoint.h"

namespace trireme::train {

class Updater {
 public:
  // max_norm 0: no clipping.
  Updater(crew::Crew& crew, std::unique_ptr<optim::Optimizer> optimizer, double max_norm);

  const optim::Optimizer& optimizer() const { return *optimizer_; }
  // Of one update, per parameter.
  ops::Cost cost() const;
  // One update with the gradient that crew.row() left; returns the L2 penalty of the weights it started from.
  double update(std::int64_t step, double lr);

  // The optimizer's state by slot, for checkpoints.
  std::vector<store::Checkpoint::Slot> slots() const;
  std::vector<store::SlotBuffer> slot_buffers();

 private:
  double clip_factor();

  crew::Crew& crew_;
  std::unique_ptr<optim::Optimizer> optimizer_;
  double max_norm_;
  std::vector<double> l2_;  // per parameter
  bool has_penalty_ = false;
  std::vector<tensor::Buffer> state_;
  std::vector<double> sums_;  // per chunk
};

}  // namespace trireme::train
