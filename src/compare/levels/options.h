// Options of a comparison.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "compare/levels/convergence.h"

namespace trireme::compare {

struct Options {
  PeerInstallation peer{};
  std::string optimizer, schedule, init;
  std::int64_t steps = 1;
  TrainOptions train{};  // the options with which `trireme train` runs the experiment
  // The levels to judge, out of level_names(); empty: all. start-equal is always judged.
  std::vector<std::string> levels{};
  ConvergenceOptions convergence{};
};

// Makes the experiment, with these options of `trireme train` on top.
using MakeExperiment = std::function<train::Experiment(const TrainOptions& on_top)>;

}  // namespace trireme::compare
