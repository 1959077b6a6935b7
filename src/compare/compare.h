// Compares a network here with the same network in another system, level by level.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/levels/options.h"

namespace trireme::compare {

// Without convergence-equal, which --runs asks for.
std::vector<std::string> level_names();

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
  std::vector<std::string> not_exercised;  // what these settings do not compare
  bool passed() const;
};

// told(text): what is going on.
Outcome compare(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                const std::function<void(const std::string& text)>& told);

// Our side alone, which needs no peer.
OwnFacts run_own_side(const train::Experiment& experiment, const Options& options);

}  // namespace trireme::compare
