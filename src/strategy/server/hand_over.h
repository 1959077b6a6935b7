// Hand-over: moves shards from worker 0 to the servers and back to all workers.
// One caller at a time. A shard is sent only after its receiver has asked for it, so a late receiver is waited for as
// long as its process lives.
#pragma once

#include <memory>

#include "comm/mailbox/mailbox.h"
#include "strategy/common/strategy.h"
#include "strategy/server/shard.h"

namespace trireme::strategy {

void send_shard(comm::Mailbox& mailbox, int to, const ShardMap& map, const float* weights, OptimizerState& state);
std::unique_ptr<Shard> receive_shard(comm::Mailbox& mailbox, int from,
                                     std::shared_ptr<const optim::Optimizer> optimizer);

// A null shard tells the worker to keep the weights and state that it has.
void send_back(comm::Mailbox& mailbox, int to, Shard* shard);
// `weights` is the whole space; only the server's part of it, and of the updater's state, is written. False when the
// server had no shard to give.
bool receive_back(comm::Mailbox& mailbox, int from, const ShardMap& map, float* weights, Updater& updater);

// Every worker calls these two between intervals, while the servers run Server::take_over() or give_back(). They are
// not needed, but harmless, when servers return gradients.
//
// Sends weights and optimizer state of worker 0 to the servers. The workers free their state in their next step.
void hand_to_servers(const WorkerContext& worker);
// Every worker gets weights and optimizer state back.
void take_from_servers(const WorkerContext& worker);

}  // namespace trireme::strategy
