// Loader: batches assembled in the background. One thread fetches samples in the sampler's order into a ring of
// batches; next() hands them out in order. The first call makes its batch itself, which is sooner than a thread wakes
// up, and starts the thread. Memory is allocated once, in the first round. One consumer thread calls next().
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <exception>
#include <functional>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "data/dataset.h"
#include "data/distribution.h"
#include "tensor/buffer.h"

namespace trireme::data {

struct Batch {
  std::int64_t epoch = 0;
  std::int64_t position = 0;       // of the first sample, in the epoch
  std::int64_t samples = 0;        // of this worker's share; may be fewer in the last batch of an epoch
  std::int64_t batch_samples = 0;  // of the whole batch, all workers together
  std::vector<std::int64_t> indices;
  std::vector<tensor::Buffer> inputs;  // samples x the input's shape, plain; what lies behind `samples` is unspecified
  tensor::Buffer target;               // samples x target_floats
};

inline constexpr std::int64_t kForever = -1;

struct LoaderOptions {
  std::int64_t batch = 1;
  bool shuffle = true;
  bool drop_last = false;  // leave out the last batch of an epoch when it is not full
  std::uint64_t seed = 0;
  std::int64_t epochs = kForever;  // batches end before this epoch begins, counted from epoch 0
  std::int64_t start_epoch = 0;
  std::int64_t start_position = 0;  // samples already used in that epoch
  int depth = 3;                    // batches ready ahead of the one in use
  std::vector<int> cpus{};  // cpus for the thread, so that it is not pinned with its parent; empty: as the parent
  DistributionOptions distribution{};
  // The part of a batch of so many samples that is read here; empty: all of it.
  std::function<base::Range(std::int64_t samples)> share{};
};

// Steps in an epoch: ceil(size / batch), or floor with drop_last.
std::int64_t batches_per_epoch(std::int64_t size, std::int64_t batch, bool drop_last);

class Loader {
 public:
  // Bad options (and drop_last with a batch larger than the set, which would leave none) are user errors.
  Loader(DatasetPtr dataset, LoaderOptions options);
  ~Loader();  // stops within one sample's time
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch, valid until the following call; nullptr at the end. An exception of the background thread is thrown
  // here, after the batches before it. Nothing is read before the first call.
  const Batch* next();
  // Whether next() would not have to wait.
  bool has_next() const { return made_.load(std::memory_order_acquire) > taken_count_; }
  // Seconds next() has waited so far.
  double waited_seconds() const { return waited_seconds_; }

 private:
  base::Range share(std::int64_t samples) const;
  void begin();  // of the first next()
  void end(const std::exception_ptr& failure);
  void run();
  bool wait_for_room();          // false when told to stop
  bool make_next(Batch& batch);  // false at the end, and when told to stop
  void take_memory(Batch& batch) const;
  bool fill(Batch& batch);  // false when told to stop

  DatasetPtr dataset_;
  LoaderOptions options_;
  Distribution distribution_;
  std::int64_t epoch_, position_;  // where the next batch to be made begins
  std::optional<EpochOrder> order_;
  std::vector<Batch> ring_;  // depth + 1: one is in the hands of the consumer
  bool has_begun_ = false;
  double waited_seconds_ = 0;

  std::mutex mutex_;
  std::condition_variable filled_, freed_;
  // Guarded by the mutex. Batch k lies in ring_[k % ring_.size()]; freed <= taken <= filled <= freed + ring size.
  std::int64_t filled_count_ = 0, taken_count_ = 0, freed_count_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;

  std::atomic<std::int64_t> made_{0};  // filled_count_, for has_next(); at the end more than any
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::data
