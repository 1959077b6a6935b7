// Phases: what --strategy asks for: "allreduce:algorithm=ring", "ps:mode=ssp,staleness=3", or a switch from one
// strategy to the next, "switch:at=50%,from=allreduce,to=ps:mode=async". A run is a list of phases with one strategy
// each.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strategy/registry/config.h"

namespace trireme::strategy {

struct Phase {
  std::string text;  // the strategy as it was asked for
  StrategyConfigPtr strategy;
  std::int64_t until = 0;   // the first step that is not of this phase, counted from 0
  bool keeps_state = true;  // of the optimizer, from the phase before

  const Traits& traits() const { return strategy->traits(); }
  const ShareRules& shares() const { return strategy->shares(); }
};

struct RunLength {
  std::int64_t total_steps = 1, steps_per_epoch = 1;
  WorkerSet workers{};
};

// Mistakes are user errors.
std::vector<Phase> parse_phases(const StrategyRegistry& strategies, std::string_view text, const RunLength& length);

// The strategies of all phases, before the length of the run is known.
struct NamedConfig {
  std::string text;
  StrategyConfigPtr config;
};
std::vector<NamedConfig> parse_configs(const StrategyRegistry& strategies, std::string_view text, int workers);
// Whether some phase has servers.
bool needs_servers(const StrategyRegistry& strategies, std::string_view text);

// How the switch is listed beside the strategies. It has no configuration of its own.
StrategyRow switch_row();

}  // namespace trireme::strategy
