// Ring: a byte queue in shared memory from one writer to one reader, which may be threads or processes.
// One writing and one reading thread at a time.
// Neither side waits: what does not fit, or has not arrived, is left for a later call.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trireme::comm {

// Bytes that each side has processed; both only grow. In shared memory, hence lock-free atomics only.
struct RingState {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> taken;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class Ring {
 public:
  static constexpr std::size_t bytes_for(std::size_t capacity) { return sizeof(RingState) + capacity; }

  // REQUIRES: `memory` is aligned to 64 bytes, holds bytes_for(capacity) and was zero before either side used it; the
  // capacity is a power of two.
  Ring(void* memory, std::size_t capacity);

  std::size_t capacity() const { return capacity_; }
  // Copies as much as fits; returns how many bytes.
  std::size_t write(std::span<const std::byte> bytes);
  // The bytes that lie in one piece after the first `after` bytes. take() consumes the first `count` bytes.
  std::span<const std::byte> readable(std::size_t after = 0) const;
  void take(std::size_t count);
  // For a writer that fills the ring in place: the free room that lies in one piece; wrote() publishes its first bytes.
  std::span<std::byte> writable() const;
  void wrote(std::size_t count);

  bool has_room() const;
  bool has_bytes() const;

 private:
  RingState* state_;
  std::byte* data_;
  std::size_t capacity_;
};

}  // namespace trireme::comm
