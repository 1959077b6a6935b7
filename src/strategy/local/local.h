// local (local SGD): every worker makes its own steps with its own optimizer; now and then the replicas are averaged.
// The factories are thread-safe.
//
// A worker computes its share of each global batch and takes the mean over that share. All workers make the same number
// of steps and exchange notes after each one. Weights travel only when they are averaged: after a number of steps, when
// one replica has drifted too far from the last average, and at the end of an interval. The replicas are added along
// the oar tree, with each worker as one oar. So the average has the same bits on all workers, whether workers or
// servers add.
#pragma once

#include <cstdint>
#include <memory>

#include "strategy/registry/config.h"

namespace trireme::strategy {

// What happens to the optimizers' states when replicas are averaged.
enum class StateAtAverage {
  average,
  keep,   // each worker keeps its own; averaged at the end of an interval only
  reset,  // set to zero; the optimizer counts its steps from 1 again
};

// When to average: after `every` steps or at `drift`, whichever comes first.
struct LocalOptions {
  std::int64_t every = 8;  // steps; 0: by drift alone
  // The largest distance of a replica from the last average, relative to the average's length (L2 norm); 0: by steps
  // alone.
  double drift = 0;
  bool by_servers = false;  // servers add the replicas
  StateAtAverage state = StateAtAverage::average;
};
std::unique_ptr<Strategy> make_local(const WorkerContext& worker, const LocalOptions& options);
StrategyRow local_row();

}  // namespace trireme::strategy
