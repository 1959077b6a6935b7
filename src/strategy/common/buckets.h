// Buckets: the parameter space cut into ranges that travel as one, in the order in which backward finishes them.
// Small parameters that lie together share a bucket; a large one is cut into several. The statistics, known when the
// whole step is computed, are the last. Equal on all workers, because chunks are.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <vector>

#include "crew/replica.h"
#include "tensor/element_type.h"

namespace trireme::strategy {

// One row of what is reduced: which floats, by whom, who owns the result and how they travel.
struct Bucket {
  base::Range floats{};                                         // of the space
  base::Range chunks{};                                         // of the replica's; none: statistics
  std::vector<int> workers{};                                   // that add their gradients
  int owner = kEverybody;                                       // the server that holds the weights
  tensor::ElementType encoding = tensor::ElementType::float32;  // on the wire

  static constexpr int kEverybody = -1;  // no server: every worker has them
  bool is_statistics() const { return chunks.empty(); }
};

inline constexpr std::int64_t kBucketBytes = std::int64_t{2} << 20;

struct BucketRule {
  std::int64_t bytes = kBucketBytes;  // at most, but for a single chunk that is larger
  std::vector<int> workers{};         // that add their gradients
  int servers = 0;                    // that own buckets: none lies on two of them; 0: everybody owns
};
std::vector<Bucket> cut_into_buckets(const crew::Replica& replica, const BucketRule& rule);

// All but the statistics.
std::size_t trained_buckets(const std::vector<Bucket>& buckets);

// The order of buckets when `late` of the trained ones are still under way as backward ends: these are the first that
// the next forward needs, so the last of them goes first.
std::vector<std::size_t> order_of_need(const std::vector<Bucket>& buckets, std::size_t late);

// Offsets of chunks that cut the trained parameters into `parts` ranges of about equal size; parts + 1 of them.
std::vector<std::int64_t> shard_borders(const crew::Replica& replica, int parts);

// Counts the chunks of buckets, and tells of each bucket when it is complete, in an order that is given whichever comes
// first. Any thread.
class BucketCount {
 public:
  explicit BucketCount(const std::vector<Bucket>& buckets, std::size_t chunks);

  // `order` names every bucket once; none given: the order of the list.
  void start(std::function<void(std::size_t bucket)> ready, std::vector<std::size_t> order = {});
  void chunk_done(int chunk);
  void statistics_done();

 private:
  void complete(std::size_t bucket);

  std::vector<std::size_t> bucket_of_;  // per chunk
  std::vector<int> chunks_;             // per bucket
  std::unique_ptr<std::atomic<int>[]> left_;
  std::function<void(std::size_t)> ready_;
  std::mutex mutex_;
  std::vector<bool> is_complete_;  // guarded by the mutex, as the next
  std::vector<std::size_t> order_;
  std::size_t told_ = 0;
};

}  // namespace trireme::strategy
