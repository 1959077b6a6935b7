// CoreRotation: swaps cores between single-threaded workers that fill a host's cores, in the middle of a step.
// One caller: the worker's pinned thread. Other processes access the shared slots concurrently.
//
// A core of a virtual machine may deliver half its speed for a while, when another guest runs on the sibling hardware
// thread. In a synchronous step all workers would wait for the worker on that core. So each worker publishes, in memory
// shared by the host, how much of its step is left and how fast it runs on its core. A worker that is ahead on a faster
// core (or is done) swaps cores with the worker that is furthest behind on a slower core. A worker on a slow core also
// takes the core of a faster worker that is done. So all workers end at about the same time. The core a worker runs on
// does not change a bit of the result.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cpu/core_swapper.h"

namespace trireme::strategy {

// The published state of one worker, in shared memory; zero-initialised.
struct CoreSlot {
  std::atomic<std::int32_t> lock;  // only that of the first slot is used: held while two workers swap
  std::atomic<std::int32_t> thread, cpu, package;
  std::atomic<std::int64_t> step;         // the last step that was begun
  std::atomic<std::int64_t> left;         // remaining work of the step, in millionths of the step; 0: done
  std::atomic<std::int64_t> reported_ns;  // when `left` was written
  std::atomic<std::int64_t> speed;        // millionths of a step per millisecond on this core; 0: not known yet
};

class CoreRotation {
 public:
  // `slots` are those of all workers of this host, `own` is the index of this worker's, `cpu` the core to which the
  // calling thread is pinned.
  CoreRotation(std::vector<CoreSlot*> slots, std::size_t own, int cpu);

  void begin(std::int64_t step);
  // Publishes the progress and swaps cores if that pays. Call it often, between two pieces of work, on the pinned
  // thread. `left`: the fraction of the step's work that is left, from 1 to 0.
  void look(double left);

 private:
  void measure(std::int64_t left, std::int64_t now_ns);
  void measure_from(std::int64_t left, std::int64_t now_ns);
  CoreSlot* idle_slot(std::int64_t left) const;
  CoreSlot* furthest_behind(std::int64_t left, std::int64_t now_ns) const;
  bool swap_cores(CoreSlot& other);

  std::vector<CoreSlot*> slots_;
  CoreSlot& own_;
  base::CoreSwapper core_swapper_;
  int cpu_;
  std::int64_t looked_ns_ = 0;
  std::int64_t measured_ns_ = 0, measured_left_ = 0;  // when the speed measurement began, and `left` at that time
};

}  // namespace trireme::strategy
