// EventCount: a counter of events that threads wait for; waiting spins for at most 50 us if allowed, then sleeps.
// Thread-safe.
#pragma once

#include <immintrin.h>

#include <atomic>
#include <cstdint>

#include "base/system/clock.h"

namespace trireme::base {

inline constexpr std::int64_t kSpinNs = 50'000;

// Returns as soon as value != old.
template <class T>
void wait_until_changed(const std::atomic<T>& value, T old, bool may_spin) {
  if (may_spin) {
    const std::int64_t start = now_ns();
    do {
      for (int i = 0; i < 64; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        _mm_pause();
      }
    } while (now_ns() - start < kSpinNs);
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

// Usage of a waiter: read latest(), check the condition, then wait_after() that count, so that no event in between is
// lost.
class EventCount {
 public:
  // Without waiters, notify() does nothing.
  EventCount(bool has_waiters, bool may_spin) : has_waiters_(has_waiters), may_spin_(may_spin) {}

  std::uint32_t latest() const { return count_.load(std::memory_order_acquire); }
  void wait_after(std::uint32_t seen) const { wait_until_changed(count_, seen, may_spin_); }
  void notify() {
    if (!has_waiters_) return;
    count_.fetch_add(1, std::memory_order_release);
    count_.notify_all();
  }

 private:
  bool has_waiters_, may_spin_;
  alignas(64) std::atomic<std::uint32_t> count_{0};
};

}  // namespace trireme::base
