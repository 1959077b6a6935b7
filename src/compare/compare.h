// Compares a network in Trireme with the same network in another system, level by level.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/levels/options.h"

namespace trireme::compare {

// All levels except convergence-equal, which --runs adds.
std::vector<std::string> level_names();

// Results of our side alone. The start and the batches are identical on every machine, the weights after all steps with
// the same build and instruction set.
struct OwnFacts {
  std::string start_sha256{};          // of the weights
  std::vector<std::string> batches{};  // SHA-256 of the first batches, as both sides receive them
  std::string weights_sha256{};        // of the weights, after all steps
  bool operator==(const OwnFacts&) const = default;
};

struct Outcome {
  std::string peer_version;
  OwnFacts own;
  std::vector<Level> levels;
  std::vector<std::string> not_exercised;  // features that these settings do not compare
  bool passed() const;
};

// `told`: receives progress messages.
Outcome compare(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                const std::function<void(const std::string& text)>& told);

// Runs our side alone; needs no peer.
OwnFacts run_own_side(const train::Experiment& experiment, const Options& options);

}  // namespace trireme::compare
