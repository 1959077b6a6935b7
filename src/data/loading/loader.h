// Loader: batches assembled in the background. One thread fetches samples into a ring of batches: in the sampler's
// order, or the parts of batches that somebody decides on meanwhile; next() hands them out in the same order. The first
// call makes its batch itself, which is sooner than a thread wakes up, and starts the thread. Memory is allocated once,
// in the first round. One consumer thread calls next().
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

#include "data/dataset/dataset.h"
#include "data/sampling/distribution.h"
#include "tensor/buffer.h"

namespace trireme::data {

// What to load next: a part of a batch.
struct Slice {
  std::int64_t number = 0;  // the caller's, given back with the batch
  std::int64_t epoch = 0;
  std::int64_t position = 0;       // of the whole batch's first sample, in the epoch
  std::int64_t batch_samples = 0;  // of the whole batch: at most LoaderOptions::batch
  base::Range part{};              // of it that is read here: [0, batch_samples) or less; may be empty
};

struct Batch {
  std::int64_t number = 0;  // of its slice; without slices, batches are counted from 0
  std::int64_t epoch = 0;
  std::int64_t position = 0;       // of the first sample here, in the epoch
  std::int64_t first = 0;          // place of that sample in the whole batch
  std::int64_t samples = 0;        // that are here; may be fewer in the last batch of an epoch
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
  // Decides what is loaded next; called in the loader's thread, the first time in next()'s caller. Nothing: the end,
  // after which it is not called again. It may wait; whoever owns the loader makes it return before the loader goes.
  // Empty: whole batches in the sampler's order, as drop_last, epochs and start_* say, which slices have no use for.
  std::function<std::optional<Slice>()> slices{};
};

// Steps in an epoch: ceil(size / batch), or floor with drop_last.
std::int64_t batches_per_epoch(std::int64_t size, std::int64_t batch, bool drop_last);

class Loader {
 public:
  // Bad options (and drop_last with a batch larger than the set, which would leave none) are user errors.
  Loader(DatasetPtr dataset, LoaderOptions options);
  ~Loader();  // stops within one sample's time, or when slices() returns
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
  void begin();  // of the first next()
  void end(const std::exception_ptr& failure);
  void run();
  bool wait_for_room();  // false when told to stop
  std::optional<Slice> next_slice();
  std::optional<Slice> next_in_order();
  bool make_next(Batch& batch);  // false at the end, and when told to stop
  void take_memory(Batch& batch) const;
  bool fill(Batch& batch);  // false when told to stop

  DatasetPtr dataset_;
  LoaderOptions options_;
  Distribution distribution_;
  Slice in_order_;  // where the next batch in the sampler's order begins
  std::optional<EpochOrder> order_;
  std::int64_t order_epoch_ = 0;
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
