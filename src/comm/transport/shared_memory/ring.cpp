#include "comm/transport/shared_memory/ring.h"

#include <algorithm>
#include <bit>
#include <cstring>

#include "base/error.h"

namespace trireme::comm {
namespace {
// A long write is published in parts of this size, so that the reader can work while it continues.
constexpr std::size_t kPart = std::size_t{32} << 10;
}  // namespace

Ring::Ring(void* memory, std::size_t capacity)
    : state_(static_cast<RingState*>(memory)),
      data_(static_cast<std::byte*>(memory) + sizeof(RingState)),
      capacity_(capacity) {
  base::check(std::has_single_bit(capacity), "a ring of {} bytes is no power of two", capacity);
}

std::size_t Ring::write(std::span<const std::byte> bytes) {
  const std::uint64_t written = state_->written.load(std::memory_order_relaxed);
  const std::size_t room = capacity_ - (written - state_->taken.load(std::memory_order_acquire));
  const std::size_t count = std::min(room, bytes.size());
  for (std::size_t done = 0; done < count;) {
    const std::size_t at = (written + done) & (capacity_ - 1), part = std::min({count - done, capacity_ - at, kPart});
    std::memcpy(data_ + at, bytes.data() + done, part);
    done += part;
    state_->written.store(written + done, std::memory_order_release);
  }
  return count;
}

std::span<const std::byte> Ring::readable(std::size_t after) const {
  const std::uint64_t from = state_->taken.load(std::memory_order_relaxed) + after;
  const std::size_t count = state_->written.load(std::memory_order_acquire) - from;
  const std::size_t at = from & (capacity_ - 1);
  return {data_ + at, std::min(count, capacity_ - at)};
}

void Ring::take(std::size_t count) {
  state_->taken.store(state_->taken.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

std::span<std::byte> Ring::writable() const {
  const std::uint64_t written = state_->written.load(std::memory_order_relaxed);
  const std::size_t room = capacity_ - (written - state_->taken.load(std::memory_order_acquire));
  const std::size_t at = written & (capacity_ - 1);
  return {data_ + at, std::min(room, capacity_ - at)};
}

void Ring::wrote(std::size_t count) {
  state_->written.store(state_->written.load(std::memory_order_relaxed) + count, std::memory_order_release);
}

bool Ring::has_room() const {
  return state_->written.load(std::memory_order_relaxed) - state_->taken.load(std::memory_order_acquire) < capacity_;
}

bool Ring::has_bytes() const {
  return state_->written.load(std::memory_order_acquire) != state_->taken.load(std::memory_order_relaxed);
}

}  // namespace trireme::comm
