// Options of the strategies that exchange through servers or not at every step.
#pragma once

#include <cstdint>

namespace trireme::strategy {

struct PsOptions {
  bool synchronous = true;
  bool returns_gradients = false;  // of synchronous ones: sums of gradients come back instead of weights
  std::int64_t bucket_bytes = 0;   // 0: the default
};

// Every worker makes steps of its own; replicas are averaged after so many, or when one has drifted away so far from
// the last average (relative to its length).
struct LocalOptions {
  std::int64_t every = 8;  // 0: by drift alone
  double drift = 0;        // 0: by steps alone
  bool by_servers = false;
};

}  // namespace trireme::strategy
