// Buckets: ranges of the parameter space that travel as one message, in the order in which backward completes them.
// The functions are thread-safe.
//
// Adjacent small parameters share a bucket; a large parameter is cut into several. The running statistics, which are
// known at the end of a step, are the last bucket. All workers get equal buckets, because their chunks are equal.
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

// Which floats are reduced, over which workers, who owns the result and how it is encoded.
struct Bucket {
  base::Range floats{};                                         // of the parameter space
  base::Range chunks{};                                         // of the replica's chunks; empty: statistics
  std::vector<int> workers{};                                   // the workers whose gradients are added
  int owner = kEverybody;                                       // the server that holds the weights
  tensor::ElementType encoding = tensor::ElementType::float32;  // on the wire

  static constexpr int kEverybody = -1;  // no server: every worker holds the weights
  bool is_statistics() const { return chunks.empty(); }
};

inline constexpr std::int64_t kBucketBytes = std::int64_t{2} << 20;

struct BucketRule {
  std::int64_t bytes = kBucketBytes;  // the largest size; a bucket of a single larger chunk exceeds it
  std::vector<int> workers{};         // the workers whose gradients are added
  int servers = 0;                    // the servers that own buckets, each bucket one owner; 0: every worker owns all
};
std::vector<Bucket> cut_into_buckets(const crew::Replica& replica, const BucketRule& rule);

// The number of buckets without the statistics.
std::size_t trained_buckets(const std::vector<Bucket>& buckets);

// The order in which to send buckets, if the last `late` trained ones are still in flight when backward ends. The next
// forward needs the last one first, so these `late` buckets go in reverse order.
std::vector<std::size_t> order_of_need(const std::vector<Bucket>& buckets, std::size_t late);

// The parts + 1 borders, in floats, that cut the trained parameters into `parts` ranges of about equal size. Each
// border is the offset of a chunk, or the end.
std::vector<std::int64_t> shard_borders(const crew::Replica& replica, int parts);

// Counts the complete chunks of each bucket and calls ready() once per complete bucket, always in the given order: a
// bucket that completes early waits for those before it. Thread-safe, except start().
class BucketCount {
 public:
  explicit BucketCount(const std::vector<Bucket>& buckets, std::size_t chunks);

  // `order` names every bucket once; empty: the order of the list.
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
  std::size_t told_ = 0;  // buckets of order_ for which ready_ was called
};

}  // namespace trireme::strategy
