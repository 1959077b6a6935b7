#include "comm/transport/shared_memory/shared_segment.h"

#include <utility>

#include "comm/transport/shared_memory/ring_link.h"

namespace trireme::comm {

std::size_t SharedSegment::bytes_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return n * sizeof(WakeupState) + n * n * Ring::bytes_for(kRing) + HostBarrier::bytes_for(ranks);
}

SharedSegment::SharedSegment(void* memory, int ranks, std::vector<int> wakeups)
    : memory_(static_cast<std::byte*>(memory)), ranks_(ranks), wakeups_(std::move(wakeups)) {}

Wakeup SharedSegment::wakeup(int rank) const {
  const auto n = static_cast<std::size_t>(rank);
  return {reinterpret_cast<WakeupState*>(memory_ + n * sizeof(WakeupState)), wakeups_[n]};
}

Ring SharedSegment::ring(int from, int to) const {
  const std::size_t number =
      static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);
  return {memory_ + static_cast<std::size_t>(ranks_) * sizeof(WakeupState) + number * Ring::bytes_for(kRing), kRing};
}

std::unique_ptr<Link> SharedSegment::link(int rank, int peer) const {
  return std::make_unique<RingLink>(ring(rank, peer), ring(peer, rank), wakeup(peer));
}

HostBarrier SharedSegment::barrier(int rank) const {
  std::vector<Wakeup> wakeups;
  for (int each = 0; each < ranks_; ++each) wakeups.push_back(wakeup(each));
  return {memory_ + bytes_for(ranks_) - HostBarrier::bytes_for(ranks_), rank, std::move(wakeups)};
}

}  // namespace trireme::comm
