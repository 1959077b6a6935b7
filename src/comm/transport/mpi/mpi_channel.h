// MpiChannel: the bytes between one link set of this rank and the same link set of a peer, over MPI. The ring `out`,
// which the link set fills, is sent piece by piece from where it lies; what comes is received into the ring `in`, from
// which the link set takes it. Both sides of a lane count the same bytes, and no piece reaches over the end of a block
// of so many: so the receiver knows how much may come next before it knows how much does, and asks for it only when
// there is room. A piece of nothing is the last one. Of the progress thread's thread alone.
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
  // The larger the blocks, the fewer times the ferries of two ranks must meet; many ranks take smaller ones, which
  // keeps the memory of a link set below 32 MB up to 64 of them.
  static std::size_t ring_bytes(int world);
  static constexpr std::size_t kBlocks = 4;  // of a ring
  static constexpr int kSends = 2;           // pieces on their way at once
  static constexpr int kSlots = 1 + kSends;  // of MPI's messages

  // `wakeup` is the link set's. `slot` is the first of kSlots.
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
  // Gives MPI what can be sent, and room for what may come; whether there was any.
  bool post();
  bool could_post() const;
  // The message of the lane's slot so-and-so has ended.
  void end(int slot, std::size_t bytes);

  // The link set is gone: what it wrote is sent, then the last piece; what still comes is thrown away.
  void close();
  bool peer_has_closed() const { return peer_has_closed_; }
  bool is_over() const { return said_last_ && in_flight_ == 0 && peer_has_closed_; }

 private:
  struct Piece {
    std::size_t bytes = 0;
    bool has_ended = false;
  };

  std::span<const std::byte> next_piece() const;
  std::size_t next_room() const { return block_ - received_ % block_; }
  bool may_send() const { return in_flight_ < kSends && !said_last_ && (is_closing_ || !next_piece().empty()); }
  bool may_receive() const { return !is_receiving_ && !peer_has_closed_ && in_.writable().size() >= next_room(); }
  void send_piece();
  void let_go();  // of what was sent, in order
  void throw_away();

  const MpiCalls& mpi_;
  Ring out_, in_;
  Wakeup wakeup_;
  std::size_t block_;
  int peer_, channel_, slot_;
  std::uint64_t sent_ = 0, received_ = 0;  // bytes so far
  std::array<Piece, kSends> pieces_;       // on their way, a circular buffer
  int first_ = 0, in_flight_ = 0;          // of them
  std::size_t bytes_in_flight_ = 0;
  bool is_receiving_ = false, is_closing_ = false, said_last_ = false, peer_has_closed_ = false;
};

// What an MPI call returned: a failure is a run error.
void expect_sent(const char* failure);

}  // namespace trireme::comm
