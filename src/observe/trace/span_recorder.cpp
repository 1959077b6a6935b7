#include "observe/trace/span_recorder.h"

namespace trireme::observe {

void SpanLane::fetch(std::vector<Span>& into) {
  const std::uint64_t end = written_.load(std::memory_order_acquire);
  for (std::uint64_t next = fetched_.load(std::memory_order_relaxed); next < end; ++next)
    into.push_back(ring_[next % kRoom]);
  fetched_.store(end, std::memory_order_release);
}

SpanLane& SpanRecorder::lane(int number, const std::string& name) {
  const std::lock_guard lock(mutex_);
  std::unique_ptr<SpanLane>& lane = lanes_[number];
  if (!lane) lane = std::make_unique<SpanLane>(number, name, step_);
  return *lane;
}

std::uint32_t SpanRecorder::text(std::string_view text) {
  const std::lock_guard lock(mutex_);
  const auto [found, is_new] = numbers_.emplace(text, static_cast<std::uint32_t>(texts_.size()));
  if (is_new) texts_.emplace_back(text);
  return found->second;
}

std::vector<SpanLane*> SpanRecorder::lanes() const {
  const std::lock_guard lock(mutex_);
  std::vector<SpanLane*> all;
  for (const auto& [number, lane] : lanes_) all.push_back(lane.get());
  return all;
}

std::string SpanRecorder::text_of(std::uint32_t number) const {
  const std::lock_guard lock(mutex_);
  return texts_.at(number);
}

}  // namespace trireme::observe
