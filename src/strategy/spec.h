// What a strategy is asked for: "allreduce:algorithm=ring", "ps:mode=ssp,staleness=3",
// "switch:at=50%,from=allreduce,to=ps:mode=async". A run is a list of phases, each with one way of synchronising.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "strategy/clocks.h"
#include "strategy/groups.h"
#include "strategy/local.h"
#include "strategy/ps.h"
#include "strategy/strategy.h"

namespace trireme::strategy {

enum class Way { single, all_reduce, ps, groups, local };

struct Plan {
  Way way = Way::single;
  std::string text;  // as it was asked for
  AllReduceOptions all_reduce{};
  PsOptions ps{};
  Bound bound{};        // of what is asynchronous; Bound::none() else
  double lr_scale = 0;  // of the learning rate of every push; 0: 1 / the number of shares of a batch
  WorkerGroups groups{};
  LocalOptions local{};

  // All workers make the same steps together; otherwise shares are handed out to whoever has time.
  bool is_synchronous() const { return way != Way::groups && (way != Way::ps || ps.synchronous); }
  bool needs_servers() const { return way == Way::ps || way == Way::groups || (way == Way::local && local.by_servers); }
  // Who rows what makes bits: it must not follow from measurements.
  bool holds_shares() const { return way == Way::local; }
  // Servers hold weights and state between stretches; otherwise every worker does.
  bool servers_hold() const { return (way == Way::ps && !ps.returns_gradients) || way == Way::groups; }
  // A worker that is gone does not end it.
  bool outlives_workers() const { return !is_synchronous(); }

  // Rowers: who asks for shares and pushes them: groups, or workers where there are none. Each has a worker that leads.
  int rowers(int workers) const { return groups.empty() ? workers : static_cast<int>(groups.size()); }
  std::vector<int> workers_of(int rower) const {
    return groups.empty() ? std::vector{rower} : groups[static_cast<std::size_t>(rower)];
  }
  int rower_of(int worker) const;
  std::vector<int> leaders() const;  // none: every worker
};

struct Phase {
  Plan plan;
  std::int64_t until = 0;   // the first step that is not of this phase, counted from 0
  bool keeps_state = true;  // of the optimizer, from the phase before
};

struct RunLength {
  std::int64_t total_steps = 1, steps_per_epoch = 1;
  int workers = 1;                   // 0: not known yet
  std::vector<std::string> hosts{};  // of the workers, when they are known
};

// Mistakes are user errors.
std::vector<Phase> parse_strategy(std::string_view text, const RunLength& length);
// The plans of all phases, before the length of the run is known.
std::vector<Plan> parse_plans(std::string_view text, int workers);
// Whether some phase has servers.
bool needs_servers(std::string_view text);

struct StrategyInfo {
  std::string name, options, summary;
};
std::vector<StrategyInfo> strategy_list();

}  // namespace trireme::strategy
