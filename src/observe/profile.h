// Profile: where the time of training steps went, by task: calls, seconds, floating-point operations and bytes.
// Each thread records its own TaskTimes; they are added up afterwards.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/system/clock.h"

namespace trireme::observe {

struct TaskTime {
  std::int64_t ns = 0;
  std::int64_t calls = 0;
};

// The times of one Program's tasks on one thread.
struct TaskTimes {
  explicit TaskTimes(std::size_t tasks) : forward(tasks), backward(tasks), accumulate(tasks) {}
  std::vector<TaskTime> forward, backward;
  std::vector<TaskTime> accumulate;  // adds a further gradient of the same value, after backward
};

// Adds the time from its construction to its destruction to a TaskTime. Does nothing if that is null.
class Stopwatch {
 public:
  explicit Stopwatch(TaskTime* time) : time_(time), start_ns_(time ? base::now_ns() : 0) {}
  ~Stopwatch() {
    if (!time_) return;
    time_->ns += base::now_ns() - start_ns_;
    ++time_->calls;
  }
  Stopwatch(const Stopwatch&) = delete;
  Stopwatch& operator=(const Stopwatch&) = delete;

 private:
  TaskTime* time_;
  std::int64_t start_ns_;
};

enum class ProfilePhase { forward, backward, update };

// One task: sums over all steps and threads.
struct ProfileRow {
  std::string layer;
  std::string kind;    // of op; otherwise "reorder", "gradient sum", "update", ...
  std::string kernel;  // implementation of the op; otherwise empty
  ProfilePhase phase = ProfilePhase::forward;
  double seconds = 0;  // thread-seconds
  double calls = 0, flops = 0, bytes = 0;
};

struct Profile {
  std::vector<ProfileRow> rows;
  std::int64_t steps = 0;
  int threads = 1;
  double wall_seconds = 0;  // of the steps; threads * wall_seconds = sum of all rows, including "waiting"
};

}  // namespace trireme::observe
