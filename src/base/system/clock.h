// Monotonic time in nanoseconds. All durations use the steady clock; calendar time is for display only. Thread-safe.
#pragma once

#include <chrono>
#include <cstdint>

namespace trireme::base {

inline std::int64_t now_ns() {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(std::chrono::steady_clock::now().time_since_epoch())
      .count();
}

// A deadline: that many seconds from now.
inline std::int64_t in_seconds(double seconds) { return now_ns() + static_cast<std::int64_t>(seconds * 1e9); }

inline double seconds_since(std::int64_t start_ns) { return 1e-9 * static_cast<double>(now_ns() - start_ns); }

// Calendar time of a moment of now_ns(): seconds since 1970 (Unix time), in milliseconds.
inline double unix_seconds(std::int64_t moment_ns = now_ns()) {
  const auto calendar = std::chrono::duration_cast<std::chrono::nanoseconds>(
      std::chrono::system_clock::now().time_since_epoch() + std::chrono::nanoseconds(moment_ns - now_ns()));
  return static_cast<double>(calendar.count() / 1'000'000) / 1000;
}

}  // namespace trireme::base
