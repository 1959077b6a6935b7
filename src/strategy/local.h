// local: every worker makes steps of its own; from time to time the replicas are averaged.
#pragma once

#include <cstdint>

namespace trireme::strategy {

// Replicas are averaged after so many steps, or when one has drifted away so far from the last average (relative to its
// length).
struct LocalOptions {
  std::int64_t every = 8;  // 0: by drift alone
  double drift = 0;        // 0: by steps alone
  bool by_servers = false;
};

}  // namespace trireme::strategy
