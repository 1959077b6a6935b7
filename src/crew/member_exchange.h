// MemberExchange: threads whose cores are slower than others' hand their members to faster ones.
//
// A virtual machine's core may be half of a real one for a while, or somebody else's process may run there. A thread
// that is faster asks a slower one, whose member is behind, for that member; the slower one, between two segments of
// its work, hands it over and gets the faster one's in return. So all members come along at about the same pace. Who
// works where makes no bits. All methods but start() are called by the thread itself, all
// threads at once.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/cpu/event_count.h"

namespace trireme::crew {

class MemberExchange {
 public:
  static constexpr int kNone = -1;

  MemberExchange(int threads, base::EventCount& events);

  // A new step of `whole` nanoseconds, as far as that is known; 0: nothing is known, nothing is exchanged.
  void start(std::int64_t whole);

  // All in nanoseconds. How long work should take is the same for all threads; how long it took is each one's own.
  struct Progress {
    std::int64_t left = 0;           // what its member's remaining work should take
    std::int64_t done = 0;           // what its finished work should have taken
    std::int64_t took = 0;           // what it took
    bool has_nothing_to_do = false;  // for now
  };
  // Between two segments of work: the member to go on with, or kNone when it was given away. Then received() says
  // which one came in return, or kNone as long as none has; the event is announced when it comes.
  int between(int thread, int member, const Progress& progress);
  int received(int thread);
  // A thread that wants to work no more in this step; false when a member is on its way to it.
  bool leave(int thread);

  // Since start().
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Box {
    std::atomic<int> wanted_by{kNone};
    std::atomic<int> member{kNone};  // that another thread has put here
    std::atomic<std::int64_t> left{0}, done{0}, took{0};
    // The owner's:
    int asked = kNone;
    std::int64_t looked_ns = 0;
  };
  Box& box(int thread) { return boxes_[static_cast<std::size_t>(thread)]; }
  void put(int thread, int member);
  int slower_one(int thread, const Progress& progress);
  bool ask(int thread, int slower);

  int threads_;
  base::EventCount* events_;
  std::int64_t whole_ = 0;
  std::unique_ptr<Box[]> boxes_;
  std::atomic<std::int64_t> count_{0};
};

}  // namespace trireme::crew
