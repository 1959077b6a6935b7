// Statistics of each parameter: norms of weights, gradients and updates, and histograms of their values.
// Pure functions; thread-safe.
#pragma once

#include <span>
#include <vector>

#include "observe/events.h"
#include "tensor/parameter_space.h"

namespace trireme::train {

// Gradients and changes of the weights in one step, over the floats of a parameter space.
struct StepUpdates {
  std::vector<float> gradients, updates;
  std::vector<base::Range> known{};  // the floats that were collected, in order

  void add(base::Range floats);
  bool knows(base::Range floats) const;
};

// `weights` and `updates`: in the layout of the space. Norms are sums of squares in double over the values in their
// plain order, so they depend on the values only.
std::vector<observe::LayerStatistics::Parameter> layer_statistics(const tensor::ParameterSpace& space,
                                                                  std::span<const float> weights,
                                                                  const StepUpdates& updates);

// Of the finite values; without counts if there are none.
observe::Histogram histogram_of(std::span<const float> values);

}  // namespace trireme::train
