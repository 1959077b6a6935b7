// CoreSwap: workers with one thread each that together use all cores of a host change places in the middle of a step.
//
// A virtual machine's core may be half of a real one for a while, when somebody else's guest runs on its other half. In
// a synchronous step everybody would wait for the worker that sits there. So every worker tells the others of its host,
// in memory that they share, how far its step is and how fast it goes where it sits; one that is ahead on a faster core
// offers its place to one that is behind on a slower one, and one on a slow core takes that of one that is done. All
// come along at about the same pace then. Where a worker sits makes no bits.
//
// Each of the two moves itself when it next looks. To move a thread that runs, one has to sleep until the system has
// stopped it; by then it runs where one would wake up, and one waits for the next tick of the clock: 4 ms of an idle
// core for every change.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <vector>

namespace trireme::strategy {

// Of one worker, in shared memory; zero at first.
struct CoreSeat {
  std::atomic<std::int32_t> lock;  // of the first seat: held while two change places
  std::atomic<std::int32_t> thread, cpu, package;
  std::atomic<std::int64_t> step;   // the last that was begun
  std::atomic<std::int64_t> left;   // of the step, in millionths
  std::atomic<std::int64_t> speed;  // millionths per millisecond on this core; 0: not known yet
  std::atomic<std::int32_t> offer;  // 1 + the seat that is offered to who sits here; 0: none
};

class CoreSwap {
 public:
  // The seats of all workers of this host, this one's by its index; `cpu`: where the calling thread is pinned.
  CoreSwap(std::vector<CoreSeat*> seats, std::size_t own, int cpu);

  void begin(std::int64_t step);
  // Between two pieces of work, often; by the thread that was pinned. `left`: of the step's work, 1 to 0.
  void look(double left);

  std::int64_t swaps() const { return swaps_; }

 private:
  bool follow();
  void measure(std::int64_t left, std::int64_t now_ns);
  void measure_from(std::int64_t left, std::int64_t now_ns);
  bool is_worth_it(const CoreSeat& ahead, std::int64_t its_left, const CoreSeat& behind,
                   std::int64_t behind_left) const;
  CoreSeat* taken_offer(std::int64_t left);
  CoreSeat* idle_place(std::int64_t left) const;
  void offer_place(std::int64_t left);
  bool change_places(CoreSeat& other);

  std::vector<CoreSeat*> seats_;
  std::int32_t number_;  // of the own seat
  CoreSeat& own_;
  int cpu_;
  std::int64_t looked_ns_ = 0;
  std::int64_t measured_ns_ = 0, measured_left_ = 0;  // since when the speed is measured, and what was left then
  std::int64_t swaps_ = 0;
};

}  // namespace trireme::strategy
