#include "comm/transport/shared_memory/wakeup.h"

#include <sys/eventfd.h>

namespace trireme::comm {

// Each side writes its own variable and then reads the other's. The full fences ensure that at least one of them sees
// the other's write.
void Wakeup::notify() {
  std::atomic_thread_fence(std::memory_order_seq_cst);
  if (state_->sleeping.load(std::memory_order_relaxed) == 0) return;
  if (state_->sleeping.exchange(0, std::memory_order_acq_rel) != 0) eventfd_write(descriptor_, 1);
}

void Wakeup::begin_sleep() {
  state_->sleeping.store(1, std::memory_order_relaxed);
  std::atomic_thread_fence(std::memory_order_seq_cst);
}

void Wakeup::end_sleep() {
  state_->sleeping.store(0, std::memory_order_relaxed);
  eventfd_t ignored = 0;
  eventfd_read(descriptor_, &ignored);  // does not block: the eventfd is non-blocking
}

}  // namespace trireme::comm
