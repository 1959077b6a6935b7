// Wakeup: wakes a thread that sleeps in poll() because nothing arrived through shared memory.
// One sleeping thread; notify() from any thread or process.
// notify() makes a system call only if the other side sleeps.
#pragma once

#include <atomic>
#include <cstdint>

namespace trireme::comm {

// In memory that both sides can access.
struct WakeupState {
  alignas(64) std::atomic<std::uint32_t> sleeping;
};

class Wakeup {
 public:
  // `descriptor` is an eventfd that is open on both sides; it is not closed here.
  Wakeup(WakeupState* state, int descriptor) : state_(state), descriptor_(descriptor) {}

  // For the writer: call it after its data is visible.
  void notify();
  // For the sleeper: begin_sleep(), check once more for data, poll descriptor(), end_sleep().
  void begin_sleep();
  void end_sleep();
  int descriptor() const { return descriptor_; }

 private:
  WakeupState* state_;
  int descriptor_;
};

}  // namespace trireme::comm
