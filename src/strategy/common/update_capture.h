// UpdateCapture: keeps the gradients of one step, and how the step changed the weights, of a range of the space.
// Updates of ranges that do not overlap may be captured concurrently; otherwise one caller at a time.
#pragma once

#include <cstdint>
#include <mutex>
#include <span>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

class UpdateCapture {
 public:
  // `floats` of the space.
  explicit UpdateCapture(base::Range floats);

  // Forgets what was captured, and captures this step from now on; steps count from 1.
  void set_step(std::int64_t step);
  bool wants(std::int64_t step) const { return step == step_; }
  // Call before and after the update of the floats from `offset`. A range that is updated again replaces the earlier.
  void before(std::int64_t offset, std::span<const float> weights, const float* gradient);
  void after(std::int64_t offset, std::span<const float> weights);

  // What was captured, in order, as few ranges as possible.
  std::vector<base::Range> ranges() const;
  // REQUIRES: part of one of these ranges.
  std::span<const float> gradients(base::Range part) const { return within(gradients_, part); }
  std::span<const float> updates(base::Range part) const { return within(updates_, part); }

 private:
  std::span<const float> within(const std::vector<float>& all, base::Range part) const;

  base::Range floats_;
  std::int64_t step_ = 0;
  std::vector<float> gradients_, updates_;
  mutable std::mutex mutex_;
  std::vector<base::Range> ranges_;  // guarded
};

}  // namespace trireme::strategy
