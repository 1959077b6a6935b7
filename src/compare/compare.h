// Compares a network here with the same network in another system, level by level.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/convergence.h"

namespace trireme::compare {

struct Options {
  PeerPlace peer{};
  std::string optimizer, schedule, init;
  std::int64_t steps = 1;
  TrainOptions train{};   // what makes `trireme train` run the experiment
  bool same_bits = true;  // false: that level is left out
  ConvergenceOptions convergence{};
};

// What a comparison began with and came to, on our side: the same everywhere.
struct OwnFacts {
  std::string start_sha256{};          // of the weights
  std::vector<std::string> batches{};  // of the first ones as both sides get them: SHA-256
  std::string weights_sha256{};        // after all steps
  bool operator==(const OwnFacts&) const = default;
};

struct Outcome {
  std::string peer_version;
  OwnFacts own;
  std::vector<Level> levels;
  bool passed() const;
};

using MakeExperiment = std::function<train::Experiment(std::uint64_t seed)>;

// told(text): what is going on.
Outcome compare(const train::Experiment& experiment, const Options& options, const MakeExperiment& with_seed,
                const std::function<void(const std::string& text)>& told);

// Our side alone, which needs no peer.
OwnFacts run_own_side(const train::Experiment& experiment, const Options& options);

}  // namespace trireme::compare
