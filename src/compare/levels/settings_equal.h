// What is given to a training run as numbers and not as tensors, computed by both sides and compared by value: rates
// and masks of dropout, the learning rate of every step, normalised samples. Part of start-equal.
#pragma once

#include <string>
#include <vector>

#include "compare/levels/options.h"

namespace trireme::compare {

struct SettingsFound {
  std::string differs{};                     // the first thing that does, or empty
  std::vector<std::string> compared{};       // "learning rates of 20 steps"
  std::vector<std::string> not_exercised{};  // "dropout (the network has none)"
};

// `feed`: a batch with masks; `peer` is prepared.
SettingsFound compare_settings(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                               const Feed& feed, PeerSide& peer, double lr);

}  // namespace trireme::compare
