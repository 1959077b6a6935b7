// `bench train`: measures whole training steps, from loading to update, in one or several processes, ours and
// PyTorch's. One caller at a time.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "bench/bench.h"
#include "bench/peer/find_peer.h"
#include "bench/peer/peer_ways.h"
#include "observe/step_phases.h"
#include "peer/own_run.h"

namespace trireme::bench {

struct TrainCase {
  std::string model;
  int world = 1, threads = 1;  // processes, threads per process
  std::int64_t share = 0;      // samples per process
  std::vector<int> oars;       // of the global batch; every listed number is measured
  std::vector<int> cpus;       // world x threads cpus
  peer::TrainOptions more{};   // further options of our side
  std::shared_ptr<const models::ModelRow> info{};

  std::int64_t batch() const { return share * world; }
};

// Seconds of a step, from its start to the start of the next one.
struct TrainSeconds {
  double total = 0;
  observe::StepSeconds phases{};
  double rest() const;  // time outside the phases
};

// The steps of a repetition: warm-up steps, then measured steps.
struct Repetition {
  int warm_up = 8, steps = 20;
  int all() const { return warm_up + steps; }
};

// Writes random byte images as a dataset of NumPy files.
void write_random_dataset(const base::fs::path& folder, const models::ModelRow& info, std::int64_t samples);

// Runs `trireme train` on such a dataset; returns the median step.
TrainSeconds run_own(const TrainCase& bench, int oars, const Repetition& repetition, const base::fs::path& data,
                     const base::fs::path& run);

// PyTorch's processes, running its fastest ways; they sleep until they get a request.
class PytorchTraining {
 public:
  // Tries PyTorch's ways, which takes some seconds each. `folder`: for the ranks' rendezvous.
  PytorchTraining(const TrainCase& bench, const Peer& peer, const base::Settings& settings,
                  const base::fs::path& folder, std::int64_t samples);

  TrainSeconds run_float32(const Repetition& repetition);
  // REQUIRES: ways().bf16.
  TrainSeconds run_bf16(const Repetition& repetition);
  const FastestWays& ways() const { return ways_; }

 private:
  FastestWays ways_;
};

}  // namespace trireme::bench
