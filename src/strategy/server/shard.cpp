#include "strategy/server/shard.h"

#include "base/error.h"
#include "base/index.h"
#include "crew/move_statistic.h"
#include "strategy/common/buckets.h"

namespace trireme::strategy {
namespace {
using base::at;
}  // namespace

ShardMap map_shard(const crew::Replica& replica, const Updater& updater, int servers, int server) {
  const std::vector<std::int64_t> borders = shard_borders(replica, servers);
  ShardMap map;
  map.trained = map.floats = {borders[at(server)], borders[at(server) + 1]};
  map.chunks_of.resize(at(servers));
  int owner = 0;
  for (const crew::Chunk& chunk : replica.chunks()) {
    while (chunk.offset >= borders[at(owner) + 1]) ++owner;
    ++map.chunks_of[at(owner)];
    if (owner < server) ++map.first_chunk;
    if (owner == server)
      map.chunks.push_back(
          {chunk.offset, chunk.count, updater.l2_factor(chunk.parameter), updater.is_frozen(chunk.parameter) ? 1 : 0});
  }
  if (server == servers - 1) {
    map.floats.end = replica.space().floats();
    map.statistics = replica.moving_statistics();
  }
  return map;
}

std::span<float> Shard::weights(base::Range floats) const {
  base::check(floats.begin >= map_.floats.begin && floats.end <= map_.floats.end,
              "weights {} to {} of a shard of {} to {}", floats.begin, floats.end, map_.floats.begin, map_.floats.end);
  return weights().subspan(at(floats.begin - map_.floats.begin), at(floats.size()));
}

void Shard::update(const ShardChunk& chunk, const float* gradient, const optim::StepScalars& scalars) {
  if (chunk.is_frozen != 0) return;
  float* weights = this->weights({chunk.offset, chunk.offset + chunk.count}).data();
  state_.update(chunk.offset, chunk.count, weights, gradient, scalars, static_cast<float>(chunk.l2));
}

void Shard::move_statistics(const float* sums, std::int64_t samples, double momentum) {
  for (const crew::MovingStatistic& statistic : map_.statistics)
    crew::move_statistic(weights({statistic.offset, statistic.offset + statistic.count}).data(),
                         sums + (statistic.offset - map_.trained.end), statistic.count, momentum * statistic.momentum,
                         samples);
}

}  // namespace trireme::strategy
