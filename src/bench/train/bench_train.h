// `bench train`: whole training steps, from loading to update, of one process or several: ours and PyTorch's.
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
  int world = 1, threads = 1;              // processes, threads of each
  std::int64_t share = 0;                  // samples of a process
  std::vector<int> oars;                   // of the whole batch; each number of them is measured
  std::vector<int> cpus;                   // world x threads of them
  peer::TrainOptions more{};               // of our side
  const models::ModelRow* info = nullptr;  // the registry's row

  std::int64_t batch() const { return share * world; }
};

// Seconds of a step, from its beginning to the next one's.
struct TrainSeconds {
  double total = 0;
  observe::StepSeconds phases{};
  double rest() const;  // what is in none of them
};

// How many steps make a repetition: some that nobody counts, and those that count.
struct Repetition {
  int warm_up = 8, steps = 20;
  int all() const { return warm_up + steps; }
};

// Random images of bytes, as a dataset in NumPy's files.
void write_random_dataset(const base::fs::path& folder, const models::ModelRow& info, std::int64_t samples);

// A run of `trireme train` on such a dataset; the step in the middle.
TrainSeconds run_own(const TrainCase& bench, int oars, const Repetition& repetition, const base::fs::path& data,
                     const base::fs::path& run);

// PyTorch's processes in the ways in which they are fastest, which sleep until they are asked.
class PytorchTraining {
 public:
  // Tries its ways, which takes some seconds each. `folder`: where ranks meet.
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
