// PsOptions: how workers and servers share the work of an update.
#pragma once

#include <cstdint>

#include "strategy/common/worker_groups.h"

namespace trireme::strategy {

struct PsOptions {
  bool synchronous = true;
  bool returns_gradients = false;  // of synchronous ones: summed gradients come back, and every worker updates
  std::int64_t bucket_bytes = 0;   // 0: the default
  WorkerGroups teams{};            // of synchronous ones: each adds up inside before one of it pushes; none: no teams
};

}  // namespace trireme::strategy
