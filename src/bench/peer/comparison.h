// Comparison: a comparison with another system, set up from options; used by `compare` and by benchmarks that require
// equal results. One caller at a time.
#pragma once

#include <map>
#include <span>
#include <string>

#include "base/text/options.h"
#include "compare/compare.h"
#include "train/experiment/registry.h"

namespace trireme::bench {

std::span<const base::OptionSpec> comparison_options();

class Comparison {
 public:
  // Reports all user errors except those about the peer.
  Comparison(const train::Registry& registry, const base::Settings& settings);

  // Finds the peer's interpreter; a user error says what to install.
  void find_peer();
  // REQUIRES: find_peer(). Shows progress on a terminal; Ctrl-C is a run error.
  compare::Outcome run() const;

  // The settings of the comparison, as a certificate stores them.
  std::map<std::string, std::string> values() const;
  const peer::System& system() const { return system_; }
  compare::Options& options() { return options_; }
  const train::Experiment& experiment() const { return experiment_; }

 private:
  const train::Registry& registry_;
  base::Settings settings_;
  const peer::System& system_;
  compare::Options options_;
  train::Experiment experiment_;
};

}  // namespace trireme::bench
