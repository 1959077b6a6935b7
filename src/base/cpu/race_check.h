// Tells the thread sanitizer which memory a kernel reads and writes. The sanitizer cannot see into oneDNN's generated
// code, and our own vector loops are not instrumented because that makes them many times slower. No-ops in other
// builds.
#pragma once

#include <cstddef>

#ifdef __SANITIZE_THREAD__
extern "C" void __tsan_read_range(void* address, unsigned long bytes);
extern "C" void __tsan_write_range(void* address, unsigned long bytes);
#endif

namespace trireme::base {

#ifdef __SANITIZE_THREAD__
inline constexpr bool kChecksRaces = true;
inline void reads(const void* address, std::size_t bytes) {
  if (address != nullptr) __tsan_read_range(const_cast<void*>(address), bytes);
}
inline void writes(void* address, std::size_t bytes) {
  if (address != nullptr) __tsan_write_range(address, bytes);
}
#else
inline constexpr bool kChecksRaces = false;
inline void reads(const void*, std::size_t) {}
inline void writes(void*, std::size_t) {}
#endif

}  // namespace trireme::base
