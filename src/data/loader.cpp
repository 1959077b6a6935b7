#include "data/loader.h"

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/cores.h"
#include "base/error.h"
#include "base/simd.h"
#include "data/sampler.h"

namespace trireme::data {

std::int64_t batches_per_epoch(std::int64_t size, std::int64_t batch, bool drop_last) {
  base::check(size >= 0 && batch > 0, "batches of {} from {} samples", batch, size);
  return size / batch + (!drop_last && size % batch != 0 ? 1 : 0);
}

Loader::Loader(DatasetPtr dataset, LoaderOptions options) : dataset_(std::move(dataset)), options_(std::move(options)) {
  const std::int64_t size = dataset_->size();
  if (size < 1) base::user_error("the dataset is empty; at least one sample is needed");
  if (options_.batch < 1) base::user_error("the batch is {}, expected at least 1", options_.batch);
  if (options_.drop_last && options_.batch > size)
    base::user_error(
        "a batch of {} from {} samples, with the last partial batch dropped, leaves no batch; use --batch {} or less",
        options_.batch, size, size);
  if (options_.epochs < kForever) base::user_error("{} epochs were asked for, expected 0 or more", options_.epochs);
  if (options_.start_epoch < 0 || options_.start_position < 0 || options_.start_position > size)
    base::user_error("cannot start at epoch {}, sample {} of {}; does the saved state belong to this dataset?",
                     options_.start_epoch, options_.start_position, size);
  if (options_.depth < 1) base::user_error("a loader depth of {}, expected at least 1", options_.depth);
  const DataSpec& spec = dataset_->spec();
  base::check(spec.inputs.size() <= kMaxInputs, "{} inputs, at most {}", spec.inputs.size(), kMaxInputs);

  const auto capacity = static_cast<std::size_t>(std::min(options_.batch, size));
  ring_.resize(static_cast<std::size_t>(options_.depth) + 1);
  for (Batch& batch : ring_) {
    batch.indices.reserve(capacity);
    for (const tensor::Shape& shape : spec.inputs)
      batch.inputs.emplace_back(capacity * static_cast<std::size_t>(shape.count()) * sizeof(float));
    batch.target = tensor::Buffer(capacity * static_cast<std::size_t>(target_floats(spec)) * sizeof(float));
  }
  thread_ = std::thread([this] { run(); });
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  freed_.notify_all();
  thread_.join();
}

const Batch* Loader::next() {
  std::unique_lock lock(mutex_);
  if (freed_count_ < taken_count_) {
    freed_count_ = taken_count_;
    freed_.notify_one();
  }
  const auto ready = [&] { return filled_count_ > taken_count_ || ended_; };
  if (!ready()) {
    const std::int64_t start = base::now_ns();
    filled_.wait(lock, ready);
    waited_seconds_ += base::seconds_since(start);
  }
  if (filled_count_ > taken_count_) return &ring_[static_cast<std::size_t>(taken_count_++) % ring_.size()];
  if (failure_) std::rethrow_exception(failure_);
  return nullptr;
}

void Loader::run() {
  if (!options_.cpus.empty()) base::unpin_this_thread(options_.cpus);
  base::set_flush_to_zero();
  std::exception_ptr failure;
  try {
    produce();
  } catch (...) {
    failure = std::current_exception();
  }
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  ended_ = true;
  filled_.notify_all();
}

void Loader::produce() {
  const std::int64_t size = dataset_->size();
  std::int64_t position = options_.start_position;
  for (std::int64_t epoch = options_.start_epoch; options_.epochs == kForever || epoch < options_.epochs; ++epoch) {
    const Permutation order = epoch_order(size, options_.seed, static_cast<std::uint64_t>(epoch), options_.shuffle);
    while (position < size) {
      const std::int64_t samples = std::min(options_.batch, size - position);
      if (options_.drop_last && samples < options_.batch) break;
      std::size_t slot;
      {
        std::unique_lock lock(mutex_);
        freed_.wait(lock,
                    [&] { return stop_ || filled_count_ - freed_count_ < static_cast<std::int64_t>(ring_.size()); });
        if (stop_) return;
        slot = static_cast<std::size_t>(filled_count_) % ring_.size();
      }
      Batch& batch = ring_[slot];
      batch.epoch = epoch;
      batch.position = position;
      batch.samples = samples;
      batch.indices.clear();
      for (std::int64_t i = 0; i < samples; ++i) batch.indices.push_back(order(position + i));
      if (!fill(batch)) return;
      position += samples;
      const std::lock_guard lock(mutex_);
      ++filled_count_;
      filled_.notify_one();
    }
    position = 0;
  }
}

bool Loader::fill(Batch& batch) {
  const DataSpec& spec = dataset_->spec();
  const Draw draw{options_.seed, static_cast<std::uint64_t>(batch.epoch)};
  std::array<float*, kMaxInputs> inputs{};
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) inputs[i] = batch.inputs[i].floats();
  float* target = batch.target.floats();
  for (const std::int64_t index : batch.indices) {
    if (stop_.load(std::memory_order_relaxed)) return false;
    dataset_->fetch(index, draw, std::span<float* const>(inputs.data(), spec.inputs.size()), target);
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) inputs[i] += spec.inputs[i].count();
    target += target_floats(spec);
  }
  return true;
}

}  // namespace trireme::data
