// What each rank contributes to a collective in these tests: small whole numbers, whose sums are exact in any order.
#pragma once

#include <cstddef>
#include <vector>

namespace trireme::comm {

inline float value(int rank, std::size_t i) { return static_cast<float>((rank + 1) * static_cast<int>(i % 17 + 1)); }

inline std::byte byte_at(int rank, std::size_t i) {
  return static_cast<std::byte>((static_cast<std::size_t>(rank) * 31 + i) % 251);
}

inline std::vector<std::byte> bytes(int rank, std::size_t count) {
  std::vector<std::byte> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = byte_at(rank, i);
  return all;
}

}  // namespace trireme::comm
