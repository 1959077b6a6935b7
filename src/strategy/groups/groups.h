// groups: synchronous training inside each group of workers, asynchronous training between the groups.
// The factories are thread-safe.
//
// To the servers and the helm a group is what a single worker is in asynchronous training. Each member computes some
// oars of the group's share. The members all-reduce their gradients along the share's own tree. The first member, the
// leader, pushes the mean to the servers and broadcasts the weights that come back. During an interval, collectives
// include the members of the group only. At the end of the interval the leaders wait for each other by mailbox, and
// collectives include all workers again.
#pragma once

#include <memory>

#include "strategy/common/worker_groups.h"
#include "strategy/registry/config.h"

namespace trireme::strategy {

// Each step takes the group's share (Work::mean_over) and this worker's oars of it. REQUIRES: all members of a group
// make the same steps.
std::unique_ptr<Strategy> make_groups(const WorkerContext& worker, const WorkerGroups& groups);
StrategyRow groups_row();

}  // namespace trireme::strategy
