#include "comm/transport/mpi/mpi_channel.h"

#include <algorithm>
#include <bit>

#include "base/error.h"

namespace trireme::comm {
namespace {
constexpr std::size_t kLeastRing = std::size_t{256} << 10, kMostRing = std::size_t{2} << 20;
constexpr std::size_t kRingsOfALinkSet = std::size_t{32} << 20;
}  // namespace

std::size_t MpiChannel::ring_bytes(int world) {
  return std::clamp(std::bit_floor(kRingsOfALinkSet / (2 * static_cast<std::size_t>(world))), kLeastRing, kMostRing);
}

void expect_sent(const char* failure) {
  if (failure != nullptr) base::run_error("MPI failed: {}", failure);
}

std::span<const std::byte> MpiChannel::next_piece() const {
  const auto there = out_.readable(bytes_in_flight_);
  return there.first(std::min(there.size(), block_ - sent_ % block_));
}

bool MpiChannel::could_post() const { return may_send() || may_receive(); }

bool MpiChannel::post() {
  bool posted = false;
  for (; may_send(); posted = true) send_piece();
  if (may_receive()) {
    expect_sent(mpi_.receive(slot_, in_.writable().data(), static_cast<int>(next_room()), peer_, channel_));
    is_receiving_ = posted = true;
  }
  return posted;
}

void MpiChannel::send_piece() {
  const auto piece = next_piece();
  const int number = (first_ + in_flight_) % kSends;
  expect_sent(mpi_.send(slot_ + 1 + number, piece.data(), static_cast<int>(piece.size()), peer_, channel_));
  pieces_[static_cast<std::size_t>(number)] = {piece.size(), false};
  ++in_flight_;
  bytes_in_flight_ += piece.size();
  sent_ += piece.size();
  has_sent_last_ = piece.empty();
}

void MpiChannel::end(int slot, std::size_t bytes) {
  if (slot > slot_) {
    pieces_[static_cast<std::size_t>(slot - slot_ - 1)].has_ended = true;
    release_sent();
  } else {
    is_receiving_ = false;
    received_ += bytes;
    peer_has_closed_ = bytes == 0;
    in_.wrote(bytes);
  }
  if (is_closing_) discard_received();
  wakeup_.notify();
}

void MpiChannel::release_sent() {
  for (; in_flight_ > 0 && pieces_[static_cast<std::size_t>(first_)].has_ended; --in_flight_) {
    const std::size_t bytes = pieces_[static_cast<std::size_t>(first_)].bytes;
    out_.take(bytes);
    bytes_in_flight_ -= bytes;
    first_ = (first_ + 1) % kSends;
  }
}

void MpiChannel::close() {
  is_closing_ = true;
  discard_received();
}

void MpiChannel::discard_received() {
  while (in_.has_bytes()) in_.take(in_.readable().size());
}

}  // namespace trireme::comm
