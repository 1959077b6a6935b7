// MemberExchange: swaps members between threads, so that a thread on a slow core hands a member that is behind to a
// faster thread.
// All methods but start() are called by the thread that they name, by all threads at once.
//
// A virtual machine's core may be half of a physical core for a while, or another process may run there. A faster
// thread asks a slower one, whose member is behind, for that member. The slower thread hands it over between two
// segments of work and gets the faster thread's member in return, so all members advance at about the same pace. Which
// thread computes which member does not change the bits.
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

  // Begins a step. `whole`: the expected nanoseconds of a member's work; 0: unknown, no members are exchanged.
  void start(std::int64_t whole);

  // A thread's progress, in nanoseconds. Expected times are the same for all threads; took is the thread's own.
  struct Progress {
    std::int64_t left = 0;           // expected time of its member's remaining work
    std::int64_t done = 0;           // expected time of the work that the thread has finished
    std::int64_t took = 0;           // measured time of that work
    bool has_nothing_to_do = false;  // for now
  };
  // Called between two segments of work. Returns the member to continue with, or kNone when the thread has given its
  // member away. Then received() returns the member given in return, or kNone until it has come; `events` is notified
  // when it comes.
  int between(int thread, int member, const Progress& progress);
  int received(int thread);
  // The thread ends its work in this step. Returns false when a member is on its way to it.
  bool leave(int thread);

  // Exchanges since start().
  std::int64_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct alignas(64) Box {
    std::atomic<int> wanted_by{kNone};
    std::atomic<int> member{kNone};  // put here by another thread
    std::atomic<std::int64_t> left{0}, done{0}, took{0};
    // Used by the owner only:
    int asked = kNone;           // the thread that it has asked for a member
    std::int64_t looked_ns = 0;  // when it last compared itself with the others
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
