// Updater: one step of training: rows a batch and turns the gradient into a step of the optimizer, layer by layer as it
// appears, on all threads; with clipping, after the norm of the whole is known.
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
  struct Report {
    crew::RowReport row;
    double penalty = 0;         // L2, of the weights the step started from
    double update_seconds = 0;  // what the row's own figure leaves out: clipping, statistics, derived weights
  };
  // `step` counts from 1.
  Report step(const crew::BatchView& batch, const crew::Draw& draw, std::int64_t step, double lr);

  // The optimizer's state by slot, for checkpoints.
  std::vector<store::Checkpoint::Slot> slots() const;
  std::vector<store::SlotBuffer> slot_buffers();

 private:
  void update_chunk(const crew::Chunk& chunk, const float* gradient, const optim::StepScalars& scalars);
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
