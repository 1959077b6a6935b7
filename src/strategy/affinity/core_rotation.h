// CoreRotation: workers with one thread each that together use all cores of a host change places in the middle of a
// step.
//
// A virtual machine's core may be half of a real one for a while, when somebody else's guest runs on its other half. In
// a synchronous step everybody would wait for the worker that sits there. So every worker tells the others of its host,
// in memory that they share, how far its step is and how fast it goes where it sits. One that is ahead on a faster core
// changes places with the one that is the furthest behind on a slower one, also when it is done, and one on a slow core
// takes that of one that is done. All come along at about the same pace then. Where a worker sits makes no bits.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

#include "base/cpu/core_swapper.h"

namespace trireme::strategy {

// Of one worker, in shared memory; zero at first.
struct CoreSlot {
  std::atomic<std::int32_t> lock;  // of the first slot: held while two change places
  std::atomic<std::int32_t> thread, cpu, package;
  std::atomic<std::int64_t> step;         // the last that was begun
  std::atomic<std::int64_t> left;         // of the step, in millionths; 0: done
  std::atomic<std::int64_t> reported_ns;  // when that was
  std::atomic<std::int64_t> speed;        // millionths per millisecond on this core; 0: not known yet
};

class CoreRotation {
 public:
  // The slots of all workers of this host, this one's by its index; `cpu`: where the calling thread is pinned.
  CoreRotation(std::vector<CoreSlot*> slots, std::size_t own, int cpu);

  void begin(std::int64_t step);
  // Between two pieces of work, often; by the thread that was pinned. `left`: of the step's work, 1 to 0.
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
  std::int64_t measured_ns_ = 0, measured_left_ = 0;  // since when the speed is measured, and what was left then
};

}  // namespace trireme::strategy
