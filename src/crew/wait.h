// Waiting for an atomic to change: spins for a moment when allowed, then sleeps.
#pragma once

#include <immintrin.h>

#include <atomic>

#include "base/clock.h"

namespace trireme::crew {

inline constexpr std::int64_t kSpinNs = 20'000;

// Returns once value != old.
template <class T>
void wait_until_changed(const std::atomic<T>& value, T old, bool may_spin) {
  if (may_spin) {
    const std::int64_t start = base::now_ns();
    do {
      for (int i = 0; i < 64; ++i) {
        if (value.load(std::memory_order_acquire) != old) return;
        _mm_pause();
      }
    } while (base::now_ns() - start < kSpinNs);
  }
  while (value.load(std::memory_order_acquire) == old) value.wait(old, std::memory_order_acquire);
}

}  // namespace trireme::crew
