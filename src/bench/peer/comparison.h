// A comparison with another system as options set it up, for `compare` and for measurements that stand on it.
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
  // All mistakes but those about the peer are user errors here.
  Comparison(const train::Registry& registry, const base::Settings& settings);

  // Where it is; a user error says what to install.
  void find_peer();
  // Needs the peer. Shows progress where somebody looks; Ctrl-C is a run error.
  compare::Outcome run() const;

  // What is compared, as a certificate holds it.
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
