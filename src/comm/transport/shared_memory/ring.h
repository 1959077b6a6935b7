// Ring: bytes from one writer to one reader through memory that both can reach, threads or processes. Neither waits:
// what does not fit, or is not there, is left for later. One writing and one reading thread at a time.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <span>

namespace trireme::comm {

// How far each side has come; both only grow. In shared memory, so nothing but lock-free atomics.
struct RingState {
  alignas(64) std::atomic<std::uint64_t> written;
  alignas(64) std::atomic<std::uint64_t> taken;
};
static_assert(std::atomic<std::uint64_t>::is_always_lock_free);

class Ring {
 public:
  static constexpr std::size_t bytes_for(std::size_t capacity) { return sizeof(RingState) + capacity; }

  // `memory` is aligned to 64 bytes, holds bytes_for(capacity), and was zero before either side came. The capacity is a
  // power of two.
  Ring(void* memory, std::size_t capacity);

  std::size_t capacity() const { return capacity_; }
  // Copies as much as fits; returns how much.
  std::size_t write(std::span<const std::byte> bytes);
  // What lies there in one piece, behind its first `after` bytes; take() lets go of its first bytes.
  std::span<const std::byte> readable(std::size_t after = 0) const;
  void take(std::size_t count);
  // For a writer that brings bytes by itself: the room in one piece, and how much of it was filled.
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
