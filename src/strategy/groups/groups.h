// groups: the workers of a group compute one share together, in step; between groups nobody waits.
//
// A group is to the servers and to the helm what one worker is in asynchronous training. Its members each compute some
// oars of the group's share and add their gradients along the share's own tree, as all-reduce does; the first of them,
// the leader, pushes the mean to the servers and passes on the weights that come back. Collectives are among the group
// while an interval lasts; when it ends, the leaders meet by mailbox and all workers come together again.
#pragma once

#include <memory>

#include "strategy/common/worker_groups.h"
#include "strategy/registry/config.h"

namespace trireme::strategy {

// A worker's steps are of Work::mean_over, the group's share, and its own oars of that; it has steps as long as its
// group has.
std::unique_ptr<Strategy> make_groups(const WorkerContext& worker, const WorkerGroups& groups);
StrategyRow groups_row();

}  // namespace trireme::strategy
