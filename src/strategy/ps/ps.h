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

}  // namespace trireme::strategy
