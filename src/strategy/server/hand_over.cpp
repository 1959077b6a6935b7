#include "strategy/server/hand_over.h"

#include "base/error.h"
#include "base/index.h"
#include "strategy/server/server_protocol.h"

namespace trireme::strategy {
namespace {

using base::at;

struct MapHead {
  base::Range trained, floats;
  std::int64_t first_chunk = 0, chunks = 0, statistics = 0, servers = 0, slots = 0;
};

struct BackHead {
  std::int64_t floats = 0;  // 0: nothing follows
  std::int64_t slots = 0;
};

// Only the group's alarm ends these waits early.
const std::atomic<bool> kNoStop{false};

}  // namespace

void send_shard(comm::Mailbox& mailbox, int to, const ShardMap& map, const float* weights, OptimizerState& state) {
  receive_one<std::int64_t>(mailbox, to, kReadyTag, kNoStop);
  const auto count = [](const auto& list) { return static_cast<std::int64_t>(list.size()); };
  send_one(mailbox, to, kHandOverTag,
           MapHead{map.trained, map.floats, map.first_chunk, count(map.chunks), count(map.statistics),
                   count(map.chunks_of), state.slots()});
  send_array<ShardChunk>(mailbox, to, kHandOverTag, map.chunks);
  send_array<crew::MovingStatistic>(mailbox, to, kHandOverTag, map.statistics);
  send_array<std::int64_t>(mailbox, to, kHandOverTag, map.chunks_of);
  send_array<float>(mailbox, to, kHandOverTag, {weights + map.floats.begin, at(map.floats.size())});
  for (int s = 0; s < state.slots(); ++s) send_array<float>(mailbox, to, kHandOverTag, state.slot(s, map.trained));
}

std::unique_ptr<Shard> receive_shard(comm::Mailbox& mailbox, int from,
                                     std::shared_ptr<const optim::Optimizer> optimizer) {
  send_one(mailbox, from, kReadyTag, std::int64_t{0});
  const auto head = receive_one<MapHead>(mailbox, from, kHandOverTag, kNoStop);
  base::check(head.slots == optimizer->slots(), "the optimizer has {} slots here and {} at rank {}", optimizer->slots(),
              head.slots, from);
  ShardMap map{head.trained, head.floats, head.first_chunk, {}, {}, {}};
  map.chunks.resize(at(head.chunks));
  map.statistics.resize(at(head.statistics));
  map.chunks_of.resize(at(head.servers));
  receive_array<ShardChunk>(mailbox, from, kHandOverTag, map.chunks, kNoStop);
  receive_array<crew::MovingStatistic>(mailbox, from, kHandOverTag, map.statistics, kNoStop);
  receive_array<std::int64_t>(mailbox, from, kHandOverTag, map.chunks_of, kNoStop);
  auto shard = std::make_unique<Shard>(std::move(map), std::move(optimizer));
  receive_array<float>(mailbox, from, kHandOverTag, shard->weights(), kNoStop);
  for (int s = 0; s < shard->state().slots(); ++s)
    receive_array<float>(mailbox, from, kHandOverTag, shard->state().slot(s), kNoStop);
  return shard;
}

void send_back(comm::Mailbox& mailbox, int to, Shard* shard) {
  receive_one<std::int64_t>(mailbox, to, kAskBackTag, kNoStop);
  if (!shard) return send_one(mailbox, to, kGiveBackTag, BackHead{});
  send_one(mailbox, to, kGiveBackTag, BackHead{shard->map().floats.size(), shard->state().slots()});
  send_array<float>(mailbox, to, kGiveBackTag, shard->weights());
  for (int s = 0; s < shard->state().slots(); ++s) send_array<float>(mailbox, to, kGiveBackTag, shard->state().slot(s));
}

bool receive_back(comm::Mailbox& mailbox, int from, const ShardMap& map, float* weights, Updater& updater) {
  send_one(mailbox, from, kAskBackTag, std::int64_t{0});
  const auto head = receive_one<BackHead>(mailbox, from, kGiveBackTag, kNoStop);
  if (head.floats == 0) return false;
  OptimizerState& state = updater.state();
  base::check(head.floats == map.floats.size() && head.slots == state.slots(),
              "rank {} gives back {} floats and {} slots, expected {} and {}", from, head.floats, head.slots,
              map.floats.size(), state.slots());
  receive_array<float>(mailbox, from, kGiveBackTag, {weights + map.floats.begin, at(map.floats.size())}, kNoStop);
  for (int s = 0; s < state.slots(); ++s)
    receive_array<float>(mailbox, from, kGiveBackTag, state.slot(s, map.trained), kNoStop);
  return true;
}

void hand_to_servers(const WorkerContext& worker) {
  if (worker.worker != 0) return;
  for (int server = 0; server < worker.roles.servers; ++server)
    send_shard(worker.group.mailbox(), worker.roles.process_of_server(server),
               map_shard(worker.replica, worker.updater, worker.roles.servers, server), worker.replica.weights(),
               worker.updater.state());
}

void take_from_servers(const WorkerContext& worker) {
  bool any = false;
  for (int server = 0; server < worker.roles.servers; ++server)
    any |= receive_back(worker.group.mailbox(), worker.roles.process_of_server(server),
                        map_shard(worker.replica, worker.updater, worker.roles.servers, server),
                        worker.replica.weights(), worker.updater);
  if (any) worker.replica.refresh_weight_forms();
}

}  // namespace trireme::strategy
