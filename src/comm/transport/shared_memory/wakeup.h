// Wakeup: wakes a thread that sleeps in poll() because nothing came through shared memory. Whoever brings something
// rings; that costs a system call only when the other sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace trireme::comm {

// In memory that both sides reach.
struct WakeupState {
  alignas(64) std::atomic<std::uint32_t> sleeping;
};

class Wakeup {
 public:
  // `descriptor` is an eventfd that both sides have open; it is not closed here.
  Wakeup(WakeupState* state, int descriptor) : state_(state), descriptor_(descriptor) {}

  // Of who rings: after what it brought is visible.
  void notify();
  // Of who sleeps: lie down, look once more whether something came, poll descriptor(), get up.
  void begin_sleep();
  void end_sleep();
  int descriptor() const { return descriptor_; }

 private:
  WakeupState* state_;
  int descriptor_;
};

}  // namespace trireme::comm
