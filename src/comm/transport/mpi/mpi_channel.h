// MpiChannel: carries bytes over MPI between one link set of this rank and the same link set of a peer.
// Used by the progress thread only.
// The link set fills the ring `out`; its bytes are sent in pieces from where they lie. Incoming pieces are received
// into the ring `in`, from which the link set takes them. No piece crosses the end of a block of the stream. Both sides
// count the same bytes, so the receiver knows an upper limit for the next piece in advance, and posts a receive only
// when the ring has that much room. An empty piece is the last one.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "comm/transport/mpi/mpi_calls.h"
#include "comm/transport/shared_memory/ring.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

class MpiChannel {
 public:
  // Larger blocks let the progress threads of two ranks meet less often. With many ranks the blocks are smaller, which
  // keeps the rings of a link set within 32 MB for up to 64 ranks.
  static std::size_t ring_bytes(int world);
  static constexpr std::size_t kBlocks = 4;  // blocks in a ring
  static constexpr int kSends = 2;           // pieces in flight at once
  static constexpr int kSlots = 1 + kSends;  // MPI messages in flight at once

  // `wakeup` belongs to the link set. `slot` is the first of kSlots slots.
  MpiChannel(const MpiCalls& mpi, Ring out, Ring in, Wakeup wakeup, int peer, int channel, int slot)
      : mpi_(mpi),
        out_(out),
        in_(in),
        wakeup_(wakeup),
        block_(in.capacity() / kBlocks),
        peer_(peer),
        channel_(channel),
        slot_(slot) {}

  int peer() const { return peer_; }
  // Posts the sends and the receive that are possible now; returns whether there were any.
  bool post();
  bool could_post() const;
  // The message of slot `slot` is complete; `bytes` is its length if it was received.
  void end(int slot, std::size_t bytes);

  // The link set is gone: sends what it wrote, then the last piece; discards what still arrives.
  void close();
  bool peer_has_closed() const { return peer_has_closed_; }
  bool is_over() const { return has_sent_last_ && in_flight_ == 0 && peer_has_closed_; }

 private:
  struct Piece {
    std::size_t bytes = 0;
    bool has_ended = false;
  };

  std::span<const std::byte> next_piece() const;
  std::size_t next_room() const { return block_ - received_ % block_; }
  bool may_send() const { return in_flight_ < kSends && !has_sent_last_ && (is_closing_ || !next_piece().empty()); }
  bool may_receive() const { return !is_receiving_ && !peer_has_closed_ && in_.writable().size() >= next_room(); }
  void send_piece();
  void release_sent();  // frees the ring space of sent pieces, in order
  void discard_received();

  const MpiCalls& mpi_;
  Ring out_, in_;
  Wakeup wakeup_;
  std::size_t block_;
  int peer_, channel_, slot_;
  std::uint64_t sent_ = 0, received_ = 0;  // so far
  std::array<Piece, kSends> pieces_;       // in flight; a circular buffer
  int first_ = 0, in_flight_ = 0;          // in pieces_
  std::size_t bytes_in_flight_ = 0;
  bool is_receiving_ = false, is_closing_ = false, has_sent_last_ = false, peer_has_closed_ = false;
};

// Throws a run error if an MPI call failed.
void expect_sent(const char* failure);

}  // namespace trireme::comm
