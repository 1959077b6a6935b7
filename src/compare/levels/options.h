// What a comparison is asked for.
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
  TrainOptions train{};  // what makes `trireme train` run the experiment
  // Which levels are judged, out of level_names(); empty: all. start-equal always is.
  std::vector<std::string> levels{};
  ConvergenceOptions convergence{};
};

// The experiment with these options of `trireme train` on top.
using MakeExperiment = std::function<train::Experiment(const TrainOptions& on_top)>;

}  // namespace trireme::compare
