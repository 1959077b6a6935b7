#include "comm/transport/shared_memory/shared_segment.h"

#include <utility>

#include "comm/transport/shared_memory/ring_link.h"

namespace trireme::comm {

std::size_t SharedSegment::bytes_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return n * sizeof(BellState) + n * n * Ring::bytes_for(kRing) + HostBarrier::bytes_for(ranks);
}

SharedSegment::SharedSegment(void* memory, int ranks, std::vector<int> bells)
    : memory_(static_cast<std::byte*>(memory)), ranks_(ranks), bells_(std::move(bells)) {}

Wakeup SharedSegment::bell(int rank) const {
  const auto n = static_cast<std::size_t>(rank);
  return {reinterpret_cast<BellState*>(memory_ + n * sizeof(BellState)), bells_[n]};
}

Ring SharedSegment::ring(int from, int to) const {
  const std::size_t number =
      static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);
  return {memory_ + static_cast<std::size_t>(ranks_) * sizeof(BellState) + number * Ring::bytes_for(kRing), kRing};
}

std::unique_ptr<Link> SharedSegment::link(int rank, int peer) const {
  return std::make_unique<RingLink>(ring(rank, peer), ring(peer, rank), bell(peer));
}

HostBarrier SharedSegment::meeting(int rank) const {
  std::vector<Wakeup> bells;
  for (int each = 0; each < ranks_; ++each) bells.push_back(bell(each));
  return {memory_ + bytes_for(ranks_) - HostBarrier::bytes_for(ranks_), rank, std::move(bells)};
}

}  // namespace trireme::comm
