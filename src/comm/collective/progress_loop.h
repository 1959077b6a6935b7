// ProgressLoop: one rank's links to all others, and the loop that moves messages over them. Collectives are written as
// lists of transfers that a progress loop runs to their end: messages to one peer go, and come from it, in the order of
// the list; different peers go on side by side. A wait spins for at most 50 us, and only while no core is wanted by
// somebody else, then sleeps; it ends with an error when nothing moved until the deadline. One thread at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/collective/combine.h"
#include "comm/transport/link/operation.h"
#include "comm/transport/link_set/link_set.h"
#include "comm/transport/link_set/link_waiter.h"

namespace trireme::comm {

// One message. Received bytes are copied, or combined with the floats that are there.
struct Transfer {
  enum class Direction : std::uint8_t { send, receive };
  Direction direction = Direction::send;
  int peer = 0;
  std::span<std::byte> bytes;  // of a send: not changed
  std::optional<Combine> combine{};
};

inline Transfer send_to(int peer, std::span<const std::byte> bytes) {
  return {Transfer::Direction::send, peer, {const_cast<std::byte*>(bytes.data()), bytes.size()}, {}};
}
inline Transfer receive_from(int peer, std::span<std::byte> bytes) {
  return {Transfer::Direction::receive, peer, bytes, {}};
}
inline Transfer combine_from(int peer, std::span<float> floats, Combine how) {
  return {Transfer::Direction::receive, peer, std::as_writable_bytes(floats), how};
}

// Before each message. Both sides are of one build and one byte order, which the handshake checks.
struct MessageHeader {
  Operation operation;
  std::uint64_t bytes = 0;  // of this message
};

class ProgressLoop {
 public:
  explicit ProgressLoop(LinkSet set);

  int rank() const { return set_.rank; }
  int world() const { return static_cast<int>(set_.links.size()); }
  int host_of(int rank) const { return set_.hosts[static_cast<std::size_t>(rank)]; }

  // Of an operation in which nothing moves.
  void set_deadline(double seconds) { set_.deadline_seconds = seconds; }

  // Of this rank; what it moves in memory is told by who moves it.
  Traffic& traffic() { return *set_.traffic; }

  // Runs all transfers to their end.
  void run(const Operation& operation, std::span<const Transfer> transfers);

  // Where all ranks share memory: each leaves a few bytes (see HostBarrier::kMost), and returns when all have come.
  // What a rank left can be read until the next time.
  bool has_barrier() const { return set_.barrier.has_value(); }
  void meet(const Operation& operation, std::span<const std::byte> own);
  void take_left(const Operation& operation, int rank, std::span<std::byte> into) const;

 private:
  // The messages to, or from, one peer that are still to be moved, in order.
  struct Lane {
    Link* link = nullptr;
    int peer = 0;
    Transfer::Direction direction = Transfer::Direction::send;
    std::vector<const Transfer*> messages;
    std::size_t next = 0;    // of them
    MessageHeader head;      // of the message that comes
    std::size_t header = 0;  // bytes of it that were received
    std::size_t done = 0;    // bytes of the content that were received, or of the whole message that were sent

    bool is_done() const { return next == messages.size(); }
  };

  void lay_out(std::span<const Transfer> transfers);
  bool advance(Lane& lane, const Operation& operation);  // whether anything moved
  bool advance_send(Lane& lane, const Operation& operation);
  bool advance_receive(Lane& lane, const Operation& operation);
  void hear_out(int peer, const Operation& operation);
  void check_header(const Lane& lane, const Operation& operation, const MessageHeader& header) const;
  std::size_t receive_part(Lane& lane);
  void wait(const Operation& operation);
  void wait_for_barrier(const Operation& operation);
  void fail_if_alarmed(const Operation& operation) const;
  [[noreturn]] void disagree(const Operation& operation, int peer, std::uint64_t bytes, const Operation& its) const;
  bool could_move() const;
  // The verdict of the group's alarm, or what this rank saw itself.
  [[noreturn]] void fail(const Lane& lane, const Operation& operation, const std::string& why) const;

  LinkSet set_;
  LinkWaiter link_waiter_;
  std::vector<Lane> lanes_;  // of the run in progress; first lanes_used_
  std::size_t lanes_used_ = 0;
  std::vector<std::byte> short_;  // a header and a short message, sent in one piece
};

}  // namespace trireme::comm
