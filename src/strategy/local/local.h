// local: every worker makes steps of its own, with its own optimizer; from time to time the replicas are averaged
// (local SGD).
//
// A worker computes its share of each global batch and takes the mean over that share. All make the same steps, and
// hear of each other after each one; but weights travel only when they are averaged: after so many steps, or when one
// replica has gone too far from the last average, and in any case at the end of an interval. The replicas are added
// along the oar tree, each worker in the place of an oar; so the average has the same bits everywhere, whoever adds.
#pragma once

#include <cstdint>
#include <memory>

#include "strategy/registry/config.h"

namespace trireme::strategy {

// What becomes of the optimizers' states when replicas are averaged.
enum class StateAtAverage {
  average,
  keep,   // each worker's own; at the end of an interval it is averaged
  reset,  // to zero, and its steps are counted anew
};

// Whichever comes first.
struct LocalOptions {
  std::int64_t every = 8;  // steps; 0: by drift alone
  double drift = 0;  // the longest way of a replica from the last average, relative to its length; 0: by steps alone
  bool by_servers = false;  // they add the replicas
  StateAtAverage state = StateAtAverage::average;
};
std::unique_ptr<Strategy> make_local(const WorkerContext& worker, const LocalOptions& options);
StrategyRow local_row();

}  // namespace trireme::strategy
