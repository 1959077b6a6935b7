// Compares the numbers that steer a training run, computed by both sides: rates and masks of dropout, the learning rate
// of every step, normalized samples. Part of start-equal.
#pragma once

#include <string>
#include <vector>

#include "compare/levels/options.h"

namespace trireme::compare {

struct SettingsFound {
  std::string differs{};                     // the first difference; empty: none
  std::vector<std::string> compared{};       // e.g. "learning rates of 20 steps"
  std::vector<std::string> not_exercised{};  // e.g. "dropout (the network has none)"
};

// `feed`: a batch with masks. REQUIRES: peer.prepare() has run.
SettingsFound compare_settings(const train::Experiment& experiment, const Options& options, const MakeExperiment& make,
                               const Feed& feed, PeerSide& peer, double lr);

}  // namespace trireme::compare
