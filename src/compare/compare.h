// Compares a network here with the same network in another system, level by level.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/verdict.h"

namespace trireme::compare {

struct Options {
  std::string python, script;  // of the peer
  std::string optimizer, schedule, init;
  std::int64_t steps = 1;
};

struct Outcome {
  std::string peer_version;
  std::vector<Level> levels;
  bool passed() const;
};

// told(step) after each step.
Outcome compare(const train::Experiment& experiment, const Options& options,
                const std::function<void(std::int64_t step)>& told);

}  // namespace trireme::compare
