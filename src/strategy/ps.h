// ps: servers hold the weights, cut into shards; workers push gradients to them and get weights back. The servers' side
// is in server.h.
#pragma once

#include <cstdint>
#include <memory>

#include "strategy/config.h"

namespace trireme::strategy {

struct PsOptions {
  bool synchronous = true;
  bool returns_gradients = false;  // of synchronous ones: summed gradients come back, and every worker updates
  std::int64_t bucket_bytes = 0;   // 0: the default
  WorkerGroups teams{};            // of synchronous ones: each adds up inside before one of it pushes; none: no teams
};
std::unique_ptr<Strategy> make_ps(const Worker& worker, const PsOptions& options);
StrategyRow ps_row();

// Called by every worker between stretches. Where gradients are returned neither is needed, nor does any harm.
// Weights and optimizer state of worker 0 go to the servers; the workers give up theirs when they begin to step.
void hand_to_servers(const Worker& worker);
// Every worker gets weights and optimizer state back.
void take_from_servers(const Worker& worker);

}  // namespace trireme::strategy
