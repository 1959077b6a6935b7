// PsOptions: how workers and servers share the work of an update.
// A plain value.
#pragma once

#include <cstdint>

#include "strategy/common/worker_groups.h"

namespace trireme::strategy {

struct PsOptions {
  bool synchronous = true;
  bool returns_gradients = false;  // synchronous only: servers return summed gradients, and every worker updates
  std::int64_t bucket_bytes = 0;   // 0: the default
  WorkerGroups teams{};            // synchronous only: each team sums its gradients and its leader pushes; empty: none
};

}  // namespace trireme::strategy
