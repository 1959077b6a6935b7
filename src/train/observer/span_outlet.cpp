#include "train/observer/span_outlet.h"

#include <utility>

namespace trireme::train {

void SpanOutlet::deliver(std::string chunk) {
  const std::lock_guard lock(mutex_);
  if (take_) return take_(std::move(chunk));
  if (waiting_.size() == kMostWaiting) waiting_.pop_front();
  waiting_.push_back(std::move(chunk));
}

void SpanOutlet::open(Take take) {
  const std::lock_guard lock(mutex_);
  take_ = std::move(take);
  for (std::string& chunk : std::exchange(waiting_, {})) take_(std::move(chunk));
}

void SpanOutlet::close() {
  const std::lock_guard lock(mutex_);
  take_ = nullptr;
}

}  // namespace trireme::train
