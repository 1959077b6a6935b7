// Where the time of training steps went, by task: how often each ran, for how long, and what it cost in floating-point
// operations and bytes. Times are taken by one thread each; profiles of several threads are added afterwards.
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

// Of one Program's tasks on one thread.
struct TaskTimes {
  explicit TaskTimes(std::size_t tasks) : forward(tasks), backward(tasks), accumulate(tasks) {}
  std::vector<TaskTime> forward, backward;
  std::vector<TaskTime> accumulate;  // adding a further gradient of the same value, after backward
};

// Adds its lifetime to a TaskTime; does nothing without one.
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

// Sums over all steps and threads.
struct ProfileRow {
  std::string layer;
  std::string kind;    // of op; "reorder", "gradient sum", "update" ... for what is none
  std::string kernel;  // implementation; empty for what is no op
  ProfilePhase phase = ProfilePhase::forward;
  double seconds = 0;  // of threads
  double calls = 0, flops = 0, bytes = 0;
};

struct Profile {
  std::vector<ProfileRow> rows;
  std::int64_t steps = 0;
  int threads = 1;
  double wall_seconds = 0;  // of the steps; threads * wall = all rows, the row "waiting" included
};

}  // namespace trireme::observe
