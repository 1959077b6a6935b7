// ShareRules: how an asynchronous strategy hands out work. A batch is cut into shares; each goes to the next pusher
// that asks. A pusher is one worker, or a group of workers that compute a share together; its leader asks and pushes.
#pragma once

#include <string>
#include <vector>

#include "base/oar_tree.h"
#include "base/text/text.h"
#include "strategy/ps/worker_clocks.h"

namespace trireme::strategy {

using WorkerGroups = std::vector<std::vector<int>>;  // the workers of each, in order; the first one leads

struct ShareRules {
  Bound bound{};          // how far a pusher may be ahead of the slowest
  double lr_scale = 0;    // of the learning rate of every push; 0: 1 / the number of shares of a batch
  WorkerGroups groups{};  // that push as one; none: every worker pushes alone

  int pushers(int workers) const { return groups.empty() ? workers : static_cast<int>(groups.size()); }
  std::vector<int> workers_of(int pusher) const {
    return groups.empty() ? std::vector{pusher} : groups[static_cast<std::size_t>(pusher)];
  }
  int pusher_of(int worker) const;
};

// The oars of a pusher's share that one of its workers computes.
base::Range oars_of_member(base::Range share, int member, int members);

// The first worker of each group.
std::vector<int> leaders_of(const WorkerGroups& groups);

enum class Staleness { any, bounded, dynamic };
// Reads staleness (bounded), low and high (dynamic), and lr-scale; mistakes are user errors.
ShareRules read_share_rules(base::Spec& spec, Staleness staleness);

}  // namespace trireme::strategy
