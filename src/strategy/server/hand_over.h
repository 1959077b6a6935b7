// How shards go from worker 0 to the servers and back to all workers. Large messages are sent only to those who said
// that they are waiting, so a late one is waited for as long as it lives.
#pragma once

#include <memory>

#include "comm/mailbox/mailbox.h"
#include "strategy/common/strategy.h"
#include "strategy/server/shard.h"

namespace trireme::strategy {

void send_shard(comm::Mailbox& mailbox, int to, const ShardMap& map, const float* weights, OptimizerState& state);
std::unique_ptr<Shard> receive_shard(comm::Mailbox& mailbox, int from,
                                     std::shared_ptr<const optim::Optimizer> optimizer);

// Without a shard the worker keeps what it has.
void send_back(comm::Mailbox& mailbox, int to, Shard* shard);
// `weights` and `state` of the whole space; false when there was nothing.
bool receive_back(comm::Mailbox& mailbox, int from, const ShardMap& map, float* weights, Updater& updater);

// Called by every worker between intervals, while the servers take over or give back. Where servers return gradients
// neither is needed, nor does any harm.
// Weights and optimizer state of worker 0 go to the servers; the workers give up theirs when they begin to step.
void hand_to_servers(const WorkerContext& worker);
// Every worker gets weights and optimizer state back.
void take_from_servers(const WorkerContext& worker);

}  // namespace trireme::strategy
