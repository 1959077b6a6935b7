#include "comm/board.h"

#include <utility>

#include "comm/ring_link.h"

namespace trireme::comm {

std::size_t Board::bytes_for(int ranks) {
  const auto n = static_cast<std::size_t>(ranks);
  return n * sizeof(BellState) + n * n * Ring::bytes_for(kRing) + Meeting::bytes_for(ranks);
}

Board::Board(void* memory, int ranks, std::vector<int> bells)
    : memory_(static_cast<std::byte*>(memory)), ranks_(ranks), bells_(std::move(bells)) {}

Bell Board::bell(int rank) const {
  const auto n = static_cast<std::size_t>(rank);
  return {reinterpret_cast<BellState*>(memory_ + n * sizeof(BellState)), bells_[n]};
}

Ring Board::ring(int from, int to) const {
  const std::size_t number =
      static_cast<std::size_t>(from) * static_cast<std::size_t>(ranks_) + static_cast<std::size_t>(to);
  return {memory_ + static_cast<std::size_t>(ranks_) * sizeof(BellState) + number * Ring::bytes_for(kRing), kRing};
}

std::unique_ptr<Link> Board::link(int rank, int peer) const {
  return std::make_unique<RingLink>(ring(rank, peer), ring(peer, rank), bell(peer));
}

Meeting Board::meeting(int rank) const {
  std::vector<Bell> bells;
  for (int each = 0; each < ranks_; ++each) bells.push_back(bell(each));
  return {memory_ + bytes_for(ranks_) - Meeting::bytes_for(ranks_), rank, std::move(bells)};
}

}  // namespace trireme::comm
