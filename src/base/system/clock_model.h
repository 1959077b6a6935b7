// ClockModel: how far a process's clock is ahead of the first process's, as a straight line, with a bound of its error.
// Plain values.
#pragma once

#include <cstdint>

namespace trireme::base {

struct ClockModel {
  std::int64_t at_ns = 0;     // own time at which the clock was `ahead_ns` ahead
  std::int64_t ahead_ns = 0;  // 0 in the first process
  double drift = 0;           // nanoseconds per nanosecond of own time
  std::int64_t bound_ns = 0;  // of the error of common_ns(); negative: unknown

  // A moment of this clock in the first process's time.
  std::int64_t common_ns(std::int64_t own_ns) const {
    return own_ns - ahead_ns - static_cast<std::int64_t>(drift * static_cast<double>(own_ns - at_ns));
  }
};

}  // namespace trireme::base
