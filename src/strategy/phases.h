// Phases: parses --strategy into the phases of a run, each with one strategy.
// The functions are thread-safe.
//
// Examples: "allreduce:algorithm=ring", "ps:mode=ssp,staleness=3", or a switch from one strategy to the next,
// "switch:at=50%,from=allreduce,to=ps:mode=async".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strategy/registry/config.h"

namespace trireme::strategy {

struct Phase {
  std::string text;  // the strategy as the user wrote it
  StrategyConfigPtr strategy;
  std::int64_t until = 0;   // the first step after this phase; steps count from 0
  bool keeps_state = true;  // takes over the optimizer's state of the previous phase

  const Traits& traits() const { return strategy->traits(); }
  const ShareRules& shares() const { return strategy->shares(); }
};

struct RunLength {
  std::int64_t total_steps = 1, steps_per_epoch = 1;
  WorkerSet workers{};
};

// Mistakes in `text` are user errors.
std::vector<Phase> parse_phases(const StrategyRegistry& strategies, std::string_view text, const RunLength& length);

// The strategies of all phases, before the length of the run is known.
struct NamedConfig {
  std::string text;
  StrategyConfigPtr config;
};
std::vector<NamedConfig> parse_configs(const StrategyRegistry& strategies, std::string_view text, int workers);
// True when some phase needs servers.
bool needs_servers(const StrategyRegistry& strategies, std::string_view text);

// The row that lists the switch beside the strategies. It has no configure function.
StrategyRow switch_row();

}  // namespace trireme::strategy
