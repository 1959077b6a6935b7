// Wakeup: wakes a thread that sleeps in poll() because nothing came through shared memory. Whoever brings something
// rings; that costs a system call only when the other sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace trireme::comm {

// In memory that both sides reach.
struct BellState {
  alignas(64) std::atomic<std::uint32_t> sleeping;
};

class Wakeup {
 public:
  // `descriptor` is an eventfd that both sides have open; it is not closed here.
  Wakeup(BellState* state, int descriptor) : state_(state), descriptor_(descriptor) {}

  // Of who rings: after what it brought is visible.
  void ring();
  // Of who sleeps: lie down, look once more whether something came, poll descriptor(), get up.
  void lie_down();
  void get_up();
  int descriptor() const { return descriptor_; }

 private:
  BellState* state_;
  int descriptor_;
};

}  // namespace trireme::comm
