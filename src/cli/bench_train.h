// `bench train`: whole training steps, from loading to update, of one process or several: ours and PyTorch's.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/files.h"
#include "cli/bench.h"
#include "cli/find_peer.h"
#include "peer/own_run.h"

namespace trireme::cli {

struct TrainCase {
  std::string model;
  int world = 1, threads = 1;  // processes, threads of each
  std::int64_t share = 0;      // samples of a process
  int oars = 1;                // of the whole batch
  std::vector<int> cpus;       // world x threads of them
  peer::TrainOptions more{};   // of our side

  std::int64_t batch() const { return share * world; }
};

// Seconds of a step, from its beginning to the next one's.
struct TrainSeconds {
  double total = 0;
  double load = 0, forward = 0, backward = 0, network = 0, update = 0;
  double rest() const;  // what is in none of them
};

// How many steps make a repetition: some that nobody counts, and those that count.
struct Repetition {
  int warm_up = 8, steps = 20;
  int all() const { return warm_up + steps; }
};

// Random images of bytes, as a dataset in NumPy's files.
void write_random_dataset(const base::fs::path& folder, const std::string& model, std::int64_t samples);

// A run of `trireme train` on such a dataset; the step in the middle.
struct OwnRepetition {
  TrainSeconds median;
  int oars = 0;
};
OwnRepetition run_own(const TrainCase& bench, const Repetition& repetition, const base::fs::path& data,
                      const base::fs::path& run);

// PyTorch's processes in the way in which they are fastest, which sleep until they are asked.
class PytorchTraining {
 public:
  PytorchTraining(const TrainCase& bench, const Peer& peer, const base::fs::path& folder, std::int64_t samples);
  ~PytorchTraining();

  double trial_seconds() const { return trial_seconds_; }
  TrainSeconds run(const Repetition& repetition);
  const std::string& version() const { return version_; }
  const std::string& way() const { return way_; }

 private:
  struct Ranks;
  std::unique_ptr<Ranks> ranks_;
  double trial_seconds_ = 0;
  std::string version_, way_;
};

}  // namespace trireme::cli
