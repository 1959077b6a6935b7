// ShareRules: how an asynchronous strategy hands out work.
// A plain value; immutable after it is read.
//
// A batch is cut into shares; each goes to the next pusher that asks. A pusher is one worker, or a group of workers
// that compute a share together; its leader asks and pushes.
#pragma once

#include <vector>

#include "base/text/text.h"
#include "strategy/common/worker_groups.h"
#include "strategy/server/worker_clocks.h"

namespace trireme::strategy {

struct ShareRules {
  StalenessBound bound{};  // how many pushes a pusher may be ahead of the slowest
  double lr_scale = 0;     // factor of the learning rate of every push; 0: 1 / the number of shares of a batch
  WorkerGroups groups{};   // the groups that push as one; empty: every worker pushes alone

  int pushers(int workers) const { return groups.empty() ? workers : static_cast<int>(groups.size()); }
  std::vector<int> workers_of(int pusher) const {
    return groups.empty() ? std::vector{pusher} : groups[static_cast<std::size_t>(pusher)];
  }
  int pusher_of(int worker) const;
};

enum class Staleness { any, bounded, dynamic };
// Reads staleness (bounded), low and high (dynamic), and lr-scale; mistakes are user errors.
ShareRules read_share_rules(base::Spec& spec, Staleness staleness);

}  // namespace trireme::strategy
