// SpanRecorder: the spans of one process, until its observer thread fetches them.
// Each lane has one writing thread at a time; one other thread fetches; lanes and texts may be added by any thread.
//
// Recording costs some ten nanoseconds and never waits: a lane is a ring with one writer and one reader. What does not
// fit, because nobody has fetched for long, is left out and counted.
#pragma once

#include <atomic>
#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <vector>

#include "base/system/clock.h"
#include "observe/trace/span.h"

namespace trireme::observe {

// One row of the time line.
class SpanLane {
 public:
  static constexpr std::size_t kRoom = 8192;

  SpanLane(int number, std::string name, const std::atomic<std::int64_t>& step)
      : number_(number), name_(std::move(name)), current_step_(step), ring_(kRoom) {}

  int number() const { return number_; }
  const std::string& name() const { return name_; }
  // The step that the process is computing.
  std::int64_t current_step() const { return current_step_.load(std::memory_order_relaxed); }

  void add(const Span& span) noexcept {
    const std::uint64_t written = written_.load(std::memory_order_relaxed);
    if (written - fetched_.load(std::memory_order_acquire) >= kRoom) {
      left_out_.store(left_out_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      return;
    }
    ring_[written % kRoom] = span;
    written_.store(written + 1, std::memory_order_release);
  }

  // Appends what was added since the last call.
  void fetch(std::vector<Span>& into);
  std::uint64_t left_out() const { return left_out_.load(std::memory_order_relaxed); }

 private:
  int number_;
  std::string name_;
  const std::atomic<std::int64_t>& current_step_;
  std::vector<Span> ring_;
  alignas(64) std::atomic<std::uint64_t> written_{0};
  std::atomic<std::uint64_t> left_out_{0};
  alignas(64) std::atomic<std::uint64_t> fetched_{0};
};

class SpanRecorder {
 public:
  // Lanes live as long as the recorder; a number that is taken gives the lane that has it.
  SpanLane& lane(int number, const std::string& name);
  // The number of a text for Span::detail.
  std::uint32_t text(std::string_view text);
  // Spans that do not name a step belong to this one.
  void begin_step(std::int64_t step) { step_.store(step, std::memory_order_relaxed); }

  // For the observer thread:
  std::vector<SpanLane*> lanes() const;  // in the order of their numbers
  std::string text_of(std::uint32_t number) const;

 private:
  std::atomic<std::int64_t> step_{0};
  mutable std::mutex mutex_;  // guards the members below
  std::map<int, std::unique_ptr<SpanLane>> lanes_;
  std::deque<std::string> texts_{""};
  std::map<std::string, std::uint32_t, std::less<>> numbers_;
};

// Records a span from its construction to its destruction; does nothing without a lane.
class SpanTimer {
 public:
  SpanTimer(SpanLane* lane, SpanKind kind) : lane_(lane) {
    if (!lane_) return;
    span_.kind = kind;
    span_.start_ns = base::now_ns();
  }
  ~SpanTimer() {
    if (!lane_) return;
    span_.end_ns = base::now_ns();
    if (span_.step == 0) span_.step = lane_->current_step();
    lane_->add(span_);
  }
  SpanTimer(const SpanTimer&) = delete;
  SpanTimer& operator=(const SpanTimer&) = delete;

  Span& span() { return span_; }

 private:
  SpanLane* lane_;
  Span span_{};
};

}  // namespace trireme::observe
