// Shard: the range of weights that one server holds, with the optimizer's state.
// Updates of ranges that do not overlap may run concurrently.
//
// The shard of the last server also has the running statistics, after the last trained parameters. A server has no
// network; worker 0 sends it the ShardMap.
#pragma once

#include <memory>
#include <vector>

#include "crew/replica.h"
#include "strategy/common/optimizer_state.h"
#include "strategy/common/updater.h"

namespace trireme::strategy {

struct ShardChunk {
  std::int64_t offset = 0, count = 0;  // floats of the space
  double l2 = 0;                       // the factor by which the weights enter the gradient
  std::int64_t is_frozen = 0;          // 1: updates leave the weights as they are
};

struct ShardMap {
  base::Range trained, floats;  // trained parameters; the same with statistics
  std::int64_t first_chunk = 0;
  std::vector<ShardChunk> chunks;
  std::vector<crew::MovingStatistic> statistics;
  std::vector<std::int64_t> chunks_of;  // per server: its number of chunks
};
ShardMap map_shard(const crew::Replica& replica, const Updater& updater, int servers, int server);

class Shard {
 public:
  Shard(ShardMap map, std::shared_ptr<const optim::Optimizer> optimizer)
      : map_(std::move(map)),
        state_(std::move(optimizer), map_.trained),
        weights_(static_cast<std::size_t>(map_.floats.size()) * sizeof(float)) {}

  const ShardMap& map() const { return map_; }
  // `number` is the replica's index of the chunk.
  const ShardChunk& chunk(std::int64_t number) const {
    return map_.chunks[static_cast<std::size_t>(number - map_.first_chunk)];
  }
  std::span<float> weights() const { return weights_.span(); }
  std::span<float> weights(base::Range floats) const;
  OptimizerState& state() { return state_; }

  void update(const ShardChunk& chunk, const float* gradient, const optim::StepScalars& scalars);
  // `sums`: statistics summed over `samples` samples, beginning with the first statistic; see Replica::move_statistics.
  void move_statistics(const float* sums, std::int64_t samples, double momentum);

 private:
  ShardMap map_;
  OptimizerState state_;
  tensor::Buffer weights_;
};

}  // namespace trireme::strategy
