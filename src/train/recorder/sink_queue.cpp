#include "train/recorder/sink_queue.h"

#include <algorithm>
#include <chrono>

#include "base/cpu/thread_name.h"
#include "base/error_of.h"
#include "base/system/log.h"

namespace trireme::train {
namespace {

// Events of single steps are delivered in batches: waking a thread for each would take time from the computation.
constexpr std::chrono::milliseconds kCollect{50};

}  // namespace

SinkQueue::SinkQueue(std::string name, std::unique_ptr<observe::EventSink> sink)
    : name_(std::move(name)), sink_(std::move(sink)), is_record_(sink_->is_record()), thread_([this] { run(); }) {}

SinkQueue::~SinkQueue() {
  {
    const std::lock_guard lock(mutex_);
    stops_ = true;
  }
  wake_.notify_one();
  thread_.join();
}

void SinkQueue::push(const SharedEvent& event) {
  if (!sink_->wants(*event)) return;
  bool wakes = false;
  {
    const std::lock_guard lock(mutex_);
    if (has_failed_) return;
    if (!is_record_ && waiting_.size() >= kMostWaiting) drop_some();
    wakes = waiting_.empty() || !observe::is_droppable(*event);
    is_urgent_ |= !observe::is_droppable(*event);
    waiting_.push_back(event);
    ++pushed_;
  }
  if (wakes) wake_.notify_one();
}

// Drops half of the queue at once, so that the average cost of a push stays small.
void SinkQueue::drop_some() {
  const auto middle = waiting_.begin() + static_cast<std::ptrdiff_t>(waiting_.size() / 2);
  const auto end =
      std::remove_if(waiting_.begin(), middle, [](const SharedEvent& event) { return observe::is_droppable(*event); });
  const auto count = static_cast<std::int64_t>(middle - end);
  waiting_.erase(end, middle);
  dropped_ += count;
  done_ += count;
}

void SinkQueue::flush() {
  std::unique_lock lock(mutex_);
  const std::int64_t until = pushed_;
  is_urgent_ = true;
  wake_.notify_one();
  delivered_.wait(lock, [&] { return done_ >= until || has_failed_; });
}

std::exception_ptr SinkQueue::error() const {
  const std::lock_guard lock(mutex_);
  return error_;
}

std::string SinkQueue::complaint() const {
  const std::lock_guard lock(mutex_);
  return complaint_;
}

std::int64_t SinkQueue::dropped() const {
  const std::lock_guard lock(mutex_);
  return dropped_;
}

// Only deliver() may throw here; nothing else may, not even std::bad_alloc.
void SinkQueue::run() {
  base::name_this_thread("sink " + name_);
  std::vector<SharedEvent> events;
  std::unique_lock lock(mutex_);
  for (;;) {
    wake_.wait(lock, [&] { return !waiting_.empty() || stops_; });
    wake_.wait_for(lock, kCollect, [&] { return is_urgent_ || stops_; });
    if (waiting_.empty() && stops_) return;
    events.clear();
    events.swap(waiting_);
    is_urgent_ = false;
    lock.unlock();
    std::exception_ptr error;
    std::string complaint;
    try {
      deliver(events);
    } catch (...) {
      error = std::current_exception();
      if (!is_record_) complaint = warn(error);
    }
    lock.lock();
    done_ += static_cast<std::int64_t>(events.size());
    if (error) {
      has_failed_ = true;
      if (is_record_) error_ = error;
      complaint_ = std::move(complaint);
      waiting_.clear();
    }
    delivered_.notify_all();
  }
}

void SinkQueue::deliver(const std::vector<SharedEvent>& events) {
  for (const SharedEvent& event : events) sink_->on(*event);
}

std::string SinkQueue::warn(const std::exception_ptr& error) const noexcept try {
  std::string sentence = base::error_of(error).what();
  base::log_warn("{} failed and gets no more events of this run: {}", name_, sentence);
  return sentence;
} catch (...) {  // no memory for a warning
  return {};
}

}  // namespace trireme::train
