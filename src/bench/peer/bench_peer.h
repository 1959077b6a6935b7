// PyTorch's side of `bench step`: processes that run its training step in its fastest ways. One caller at a time.
#pragma once

#include <memory>
#include <string>

#include "bench/bench.h"
#include "bench/peer/find_peer.h"
#include "bench/peer/peer_ways.h"

namespace trireme::bench {

class PytorchStep {
 public:
  // Tries PyTorch's ways, which takes some seconds each, and longest for torch.compile.
  PytorchStep(const BenchCase& bench, const Peer& peer, const base::Settings& settings, const base::CorePlan& cores);

  train::TimedStep run_float32(int steps);
  // REQUIRES: ways().bf16.
  train::TimedStep run_bf16(int steps);
  const FastestWays& ways() const { return ways_; }

 private:
  FastestWays ways_;
};

}  // namespace trireme::bench
