#include "comm/transport/shared_memory/host_barrier.h"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/error.h"

namespace trireme::comm {
namespace {
constexpr std::uint64_t kRanks = 1 << 16;  // more than the possible ranks
}

std::size_t HostBarrier::bytes_for(int ranks) { return sizeof(Table) + static_cast<std::size_t>(ranks) * sizeof(Slot); }

HostBarrier::HostBarrier(void* memory, int rank, std::vector<Wakeup> wakeups)
    : table_(static_cast<Table*>(memory)),
      slots_(reinterpret_cast<Slot*>(table_ + 1)),
      rank_(rank),
      wakeups_(std::move(wakeups)) {}

void HostBarrier::arrive(const Operation& operation, std::span<const std::byte> own) {
  base::check(own.size() <= kMost, "{} bytes at a meeting for {}", own.size(), kMost);
  ++number_;
  Slot::Note& left = note(rank_, number_);
  left.operation = operation;
  left.bytes = own.size();
  std::ranges::copy(own, left.content);
  slot(rank_).number.store(number_, std::memory_order_release);
  if (table_->arrived.fetch_add(1, std::memory_order_acq_rel) + 1 == number_ * wakeups_.size())
    table_->complete[number_ % 2].store(number_ * kRanks + static_cast<std::uint64_t>(rank_),
                                        std::memory_order_release);
}

bool HostBarrier::is_complete() const { return complete() / kRanks == number_; }

// Wakes along a tree, by distance from the rank that arrived last: that rank wakes those at distances 1, 2, 4, ...; the
// rank at distance p wakes those at p + 2^k for all 2^k > p.
void HostBarrier::pass_on() {
  const std::size_t ranks = wakeups_.size(), last = complete() % kRanks;
  const std::size_t place = (static_cast<std::size_t>(rank_) + ranks - last) % ranks;
  for (std::size_t distance = std::bit_ceil(place + 1); place + distance < ranks; distance *= 2)
    wakeups_[(last + place + distance) % ranks].notify();
}

std::span<const std::byte> HostBarrier::content(int rank) const {
  const Slot::Note& left = note(rank, number_);
  return {left.content, std::min<std::size_t>(left.bytes, kMost)};
}

const Operation* HostBarrier::ahead(int rank) const {
  return number_of(rank) > number_ ? &note(rank, number_ + 1).operation : nullptr;
}

}  // namespace trireme::comm
