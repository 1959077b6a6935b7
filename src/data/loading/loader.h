// Loader: assembles batches in a background thread, in a ring of batches. It loads whole batches in the sampler's
// order, or the slices that a callback decides on at run time; next() returns them in the same order.
// One consumer thread calls next(). The first call makes its batch itself (faster than waking a thread) and then starts
// the thread. Memory is allocated once, during the first pass over the ring.
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

// The part of a batch to load next.
struct Slice {
  std::int64_t number = 0;  // chosen by the caller; returned with the batch
  std::int64_t epoch = 0;
  std::int64_t position = 0;       // of the whole batch's first sample, within the epoch
  std::int64_t batch_samples = 0;  // size of the whole batch: at most LoaderOptions::batch
  base::Range part{};              // the samples of the batch to load: within [0, batch_samples); may be empty
};

struct Batch {
  std::int64_t number = 0;  // of its slice; without slices, batches are numbered from 0
  std::int64_t epoch = 0;
  std::int64_t position = 0;       // of the first sample loaded here, within the epoch
  std::int64_t first = 0;          // index of that sample within the whole batch
  std::int64_t samples = 0;        // loaded here; may be fewer in the last batch of an epoch
  std::int64_t batch_samples = 0;  // size of the whole batch, all workers together
  std::vector<std::int64_t> indices;
  std::vector<tensor::Buffer> inputs;  // samples x the input's shape, plain; unspecified behind `samples`
  tensor::Buffer target;               // samples x target_floats
};

inline constexpr std::int64_t kForever = -1;

struct LoaderOptions {
  std::int64_t batch = 1;
  bool shuffle = true;
  bool drop_last = false;  // leave out an incomplete last batch of an epoch
  std::uint64_t seed = 0;
  std::int64_t epochs = kForever;  // end before this epoch, counted from epoch 0
  std::int64_t start_epoch = 0;
  std::int64_t start_position = 0;  // samples already used in that epoch
  int depth = 3;                    // batches ready ahead of the one in use
  std::vector<int> cpus{};          // affinity of the thread; empty: inherited from the parent
  DistributionOptions distribution{};
  // Decides what is loaded next. Runs in the loader's thread, the first time in the caller of next(). No value: the
  // end, after which it is not called again. It may wait; the owner must make it return before the loader is destroyed.
  // Empty: whole batches in the sampler's order, controlled by drop_last, epochs and start_*. Slices ignore those
  // options.
  std::function<std::optional<Slice>()> slices{};
  // Called with each batch when it is complete, in the thread that made it; `start_ns`: when it began.
  std::function<void(const Batch& batch, std::int64_t start_ns)> made{};
};

// Steps in an epoch: ceil(size / batch), or floor with drop_last.
std::int64_t batches_per_epoch(std::int64_t size, std::int64_t batch, bool drop_last);

class Loader {
 public:
  // Bad options are user errors, and so is drop_last with a batch larger than the set (no batch would be left).
  Loader(DatasetPtr dataset, LoaderOptions options);
  ~Loader();  // stops within one sample's time, or when slices() returns
  Loader(const Loader&) = delete;
  Loader& operator=(const Loader&) = delete;

  // The next batch, valid until the following call; nullptr at the end. An exception of the background thread is thrown
  // here, after the batches before it. Nothing is read before the first call.
  const Batch* next();
  // True if next() would return at once.
  bool has_next() const { return ready_count_.load(std::memory_order_acquire) > taken_count_; }
  // Seconds next() has waited so far.
  double waited_seconds() const { return waited_seconds_; }

 private:
  void begin();  // in the first next()
  void end(const std::exception_ptr& failure);
  void run();
  bool wait_for_room();  // false when told to stop
  std::optional<Slice> next_slice();
  std::optional<Slice> next_in_order();
  bool make_next(Batch& batch);  // false at the end, and when told to stop
  void allocate(Batch& batch) const;
  bool fill(Batch& batch);  // false when told to stop

  DatasetPtr dataset_;
  LoaderOptions options_;
  Distribution distribution_;
  Slice in_order_;  // where the next batch in the sampler's order begins
  std::optional<EpochOrder> order_;
  std::int64_t order_epoch_ = 0;
  std::vector<Batch> ring_;  // depth + 1 batches: the consumer holds one
  bool has_begun_ = false;
  double waited_seconds_ = 0;

  std::mutex mutex_;
  std::condition_variable filled_, freed_;
  // Guarded by the mutex. Batch k lies in ring_[k % ring_.size()]; freed <= taken <= filled <= freed + ring size.
  std::int64_t filled_count_ = 0, taken_count_ = 0, freed_count_ = 0;
  bool ended_ = false;
  std::exception_ptr failure_;

  // filled_count_, readable without the mutex; the largest number at the end.
  std::atomic<std::int64_t> ready_count_{0};
  std::atomic<bool> stop_{false};
  std::thread thread_;
};

}  // namespace trireme::data
