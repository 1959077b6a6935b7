// Traffic: the bytes that a rank sent to and received from other ranks, over connections or through memory.
// Thread-safe.
#pragma once

#include <atomic>
#include <cstdint>

namespace trireme::comm {

class Traffic {
 public:
  void add(std::uint64_t sent, std::uint64_t received) {
    sent_.fetch_add(sent, std::memory_order_relaxed);
    received_.fetch_add(received, std::memory_order_relaxed);
  }
  std::uint64_t sent() const { return sent_.load(std::memory_order_relaxed); }
  std::uint64_t received() const { return received_.load(std::memory_order_relaxed); }

 private:
  std::atomic<std::uint64_t> sent_{0}, received_{0};
};

}  // namespace trireme::comm
