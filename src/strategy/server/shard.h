// Shard: what a server holds: a range of the weights with the optimizer's state, and behind the last trained
// parameters, in the last server, the running statistics. A server knows no network; worker 0 tells it what it needs.
#pragma once

#include <memory>
#include <vector>

#include "crew/replica.h"
#include "strategy/common/optimizer_state.h"
#include "strategy/common/updater.h"

namespace trireme::strategy {

struct ShardChunk {
  std::int64_t offset = 0, count = 0;  // floats of the space
  double l2 = 0;                       // factor of the weights in the gradient
};

struct ShardMap {
  base::Range trained, floats;  // the second with statistics
  std::int64_t first_chunk = 0;
  std::vector<ShardChunk> chunks;
  std::vector<crew::MovingStatistic> statistics;
  std::vector<std::int64_t> chunks_of;  // per server
};
ShardMap map_shard(const crew::Replica& replica, const Updater& updater, int servers, int server);

// Updates of parts that do not overlap may run at once.
class Shard {
 public:
  Shard(ShardMap map, std::shared_ptr<const optim::Optimizer> optimizer)
      : map_(std::move(map)),
        state_(std::move(optimizer), map_.trained),
        weights_(static_cast<std::size_t>(map_.floats.size()) * sizeof(float)) {}

  const ShardMap& map() const { return map_; }
  // Chunks as the crews count them.
  const ShardChunk& chunk(std::int64_t number) const {
    return map_.chunks[static_cast<std::size_t>(number - map_.first_chunk)];
  }
  std::span<float> weights() const { return weights_.span(); }
  std::span<float> weights(base::Range floats) const;
  OptimizerState& state() { return state_; }

  void update(const ShardChunk& chunk, const float* gradient, const optim::StepScalars& scalars);
  // `sums` over so many samples, from the first statistic on; see Crew::move_statistics.
  void move_statistics(const float* sums, std::int64_t samples, double momentum);

 private:
  ShardMap map_;
  OptimizerState state_;
  tensor::Buffer weights_;
};

}  // namespace trireme::strategy
