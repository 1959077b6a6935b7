#include "data/loading/loader.h"

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

#include "base/cpu/cores.h"
#include "base/cpu/simd.h"
#include "base/cpu/thread_name.h"
#include "base/error.h"
#include "base/system/clock.h"

namespace trireme::data {

std::int64_t batches_per_epoch(std::int64_t size, std::int64_t batch, bool drop_last) {
  base::check(size >= 0 && batch > 0, "batches of {} from {} samples", batch, size);
  return size / batch + (!drop_last && size % batch != 0 ? 1 : 0);
}

namespace {

constexpr std::size_t kNearlyHuge = std::size_t{1} << 20;

// Runs before the members are built from the options.
LoaderOptions checked(LoaderOptions options, std::int64_t size) {
  if (size < 1) base::user_error("the dataset is empty; at least one sample is needed");
  if (options.batch < 1) base::user_error("the batch is {}, expected at least 1", options.batch);
  if (options.drop_last && options.batch > size)
    base::user_error(
        "a batch of {} from {} samples, with the last partial batch dropped, leaves no batch; use --batch {} or less",
        options.batch, size, size);
  if (options.epochs < kForever) base::user_error("{} epochs were asked for, expected 0 or more", options.epochs);
  if (options.start_epoch < 0 || options.start_position < 0 || options.start_position > size)
    base::user_error("cannot start at epoch {}, sample {} of {}; does the saved state belong to this dataset?",
                     options.start_epoch, options.start_position, size);
  if (options.depth < 1) base::user_error("a loader depth of {}, expected at least 1", options.depth);
  return options;
}

}  // namespace

Loader::Loader(DatasetPtr dataset, LoaderOptions options)
    : dataset_(std::move(dataset)),
      options_(checked(std::move(options), dataset_->size())),
      distribution_(*dataset_, options_.distribution, options_.batch, options_.seed, options_.shuffle) {
  in_order_.epoch = options_.start_epoch;
  in_order_.position = options_.start_position;
  const std::size_t inputs = dataset_->spec().inputs.size();
  base::check(inputs <= kMaxInputs, "{} inputs, at most {}", inputs, kMaxInputs);
  ring_.resize(static_cast<std::size_t>(options_.depth) + 1);
}

Loader::~Loader() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  freed_.notify_all();
  if (thread_.joinable()) thread_.join();
}

void Loader::begin() {
  has_begun_ = true;
  const std::int64_t start = base::now_ns();
  base::set_flush_to_zero();
  try {
    if (!make_next(ring_[0])) return end(nullptr);
  } catch (...) {
    return end(std::current_exception());
  }
  ready_count_ = filled_count_ = 1;
  waited_seconds_ += base::seconds_since(start);
  thread_ = std::thread([this] { run(); });
}

void Loader::end(const std::exception_ptr& failure) {
  const std::lock_guard lock(mutex_);
  failure_ = failure;
  ended_ = true;
  ready_count_.store(std::numeric_limits<std::int64_t>::max(), std::memory_order_release);
  filled_.notify_all();
}

const Batch* Loader::next() {
  if (!has_begun_) begin();
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
  base::name_this_thread("loader");
  if (!options_.cpus.empty()) base::unpin_this_thread(options_.cpus);
  base::work_in_background();
  base::set_flush_to_zero();
  try {
    while (wait_for_room() && make_next(ring_[static_cast<std::size_t>(filled_count_) % ring_.size()])) {
      {
        const std::lock_guard lock(mutex_);
        ++filled_count_;
        ready_count_.store(filled_count_, std::memory_order_release);
      }
      filled_.notify_one();
    }
    end(nullptr);
  } catch (...) {
    end(std::current_exception());
  }
}

bool Loader::wait_for_room() {
  std::unique_lock lock(mutex_);
  freed_.wait(lock, [&] { return stop_ || filled_count_ - freed_count_ < static_cast<std::int64_t>(ring_.size()); });
  return !stop_;
}

std::optional<Slice> Loader::next_in_order() {
  const std::int64_t size = dataset_->size();
  Slice& at = in_order_;
  if (at.position == size || (options_.drop_last && size - at.position < options_.batch)) {
    ++at.epoch;
    at.position = 0;
  }
  if (options_.epochs != kForever && at.epoch >= options_.epochs) return std::nullopt;
  at.batch_samples = std::min(options_.batch, size - at.position);
  at.part = {0, at.batch_samples};
  const Slice slice = at;
  at.position += at.batch_samples;
  ++at.number;
  return slice;
}

std::optional<Slice> Loader::next_slice() {
  if (!options_.slices) return next_in_order();
  const auto slice = options_.slices();
  if (!slice) return slice;
  const auto& [number, epoch, position, samples, part] = *slice;
  base::check(epoch >= 0 && position >= 0 && samples >= 0 && samples <= options_.batch &&
                  position + samples <= dataset_->size(),
              "batch {} is of samples {} to {} of {} of epoch {}; batches are of {}", number, position,
              position + samples, dataset_->size(), epoch, options_.batch);
  base::check(part.begin >= 0 && part.begin <= part.end && part.end <= samples,
              "samples {} to {} of batch {}, which has {}", part.begin, part.end, number, samples);
  return slice;
}

bool Loader::make_next(Batch& batch) {
  const auto slice = next_slice();
  if (!slice) return false;
  const std::int64_t start_ns = base::now_ns();
  if (!order_ || order_epoch_ != slice->epoch) {
    order_.emplace(distribution_.order(static_cast<std::uint64_t>(slice->epoch)));
    order_epoch_ = slice->epoch;
  }
  if (batch.inputs.empty()) allocate(batch);
  batch.number = slice->number;
  batch.epoch = slice->epoch;
  batch.first = slice->part.begin;
  batch.position = slice->position + batch.first;
  batch.samples = slice->part.size();
  batch.batch_samples = slice->batch_samples;
  batch.indices.resize(static_cast<std::size_t>(batch.samples));
  order_->fill(batch.position, batch.indices);
  if (!fill(batch)) return false;
  if (options_.made) options_.made(batch, start_ns);
  return true;
}

// Runs when a ring slot is filled for the first time, so the first batch does not wait for the memory of the others.
void Loader::allocate(Batch& batch) const {
  const auto capacity = static_cast<std::size_t>(std::min(options_.batch, dataset_->size()));
  const DataSpec& spec = dataset_->spec();
  batch.indices.reserve(capacity);
  for (const tensor::Shape& shape : spec.inputs) {
    // Buffers above 1 MB are rounded up to 2 MB, so that a huge page backs them: it faults in faster than hundreds of
    // small pages.
    const std::size_t bytes = capacity * static_cast<std::size_t>(shape.count()) * sizeof(float);
    batch.inputs.emplace_back(bytes > kNearlyHuge ? std::max(bytes, 2 * kNearlyHuge) : bytes,
                              tensor::Buffer::Content::any);
  }
  batch.target = tensor::Buffer(capacity * static_cast<std::size_t>(target_floats(spec)) * sizeof(float));
}

bool Loader::fill(Batch& batch) {
  const DataSpec& spec = dataset_->spec();
  const AugmentationSeed random{options_.seed, static_cast<std::uint64_t>(batch.epoch)};
  std::array<float*, kMaxInputs> inputs{};
  for (std::size_t i = 0; i < spec.inputs.size(); ++i) inputs[i] = batch.inputs[i].floats();
  float* target = batch.target.floats();
  for (const std::int64_t index : batch.indices) {
    if (stop_.load(std::memory_order_relaxed)) return false;
    dataset_->fetch(index, random, std::span<float* const>(inputs.data(), spec.inputs.size()), target);
    for (std::size_t i = 0; i < spec.inputs.size(); ++i) inputs[i] += spec.inputs[i].count();
    target += target_floats(spec);
  }
  return true;
}

}  // namespace trireme::data
