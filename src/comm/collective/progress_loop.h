// ProgressLoop: one rank's links to all others, and the loop that moves messages over them.
// One caller at a time.
// A collective is a list of transfers that the loop runs to completion. Messages to one peer are sent, and received
// from it, in the order of the list; different peers progress concurrently. A wait spins for at most 50 us, and only
// while there are idle cores, then sleeps. It ends with an error when nothing moved until the deadline.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "comm/collective/elementwise.h"
#include "comm/transport/link/operation.h"
#include "comm/transport/link_set/link_set.h"
#include "comm/transport/link_set/link_waiter.h"

namespace trireme::comm {

// One message. Received bytes are copied to `bytes`, or combined with the floats there.
struct Transfer {
  enum class Direction : std::uint8_t { send, receive };
  Direction direction = Direction::send;
  int peer = 0;
  std::span<std::byte> bytes;  // read-only for a send
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

// Precedes each message. Both sides run the same build with the same byte order, which is checked when they join.
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

  // How long an operation may take without progress.
  void set_deadline(double seconds) { set_.deadline_seconds = seconds; }

  // Of this rank. Operations that move data through shared memory count it themselves.
  Traffic& traffic() { return *set_.traffic; }

  // The rank for which this one has waited longest since the last call; -1 if it never slept.
  int take_late();

  // Runs all transfers to completion.
  void run(const Operation& operation, std::span<const Transfer> transfers);

  // A barrier, if all ranks share memory: each rank leaves a few bytes (at most HostBarrier::kMost) and returns when
  // all have arrived. take_left() reads what a rank left, until the next barrier.
  bool has_barrier() const { return set_.barrier.has_value(); }
  void meet(const Operation& operation, std::span<const std::byte> own);
  void take_left(const Operation& operation, int rank, std::span<std::byte> into) const;

 private:
  // The pending messages to, or from, one peer, in order.
  struct Lane {
    Link* link = nullptr;
    int peer = 0;
    Transfer::Direction direction = Transfer::Direction::send;
    std::vector<const Transfer*> messages;
    std::size_t next = 0;    // index of the current message
    MessageHeader head;      // of the message being received
    std::size_t header = 0;  // bytes of `head` received
    std::size_t done = 0;    // bytes of the current message: received content, or sent header and content

    bool is_done() const { return next == messages.size(); }
  };

  void build_lanes(std::span<const Transfer> transfers);
  bool advance(Lane& lane, const Operation& operation);  // true if bytes moved
  bool advance_send(Lane& lane, const Operation& operation);
  bool advance_receive(Lane& lane, const Operation& operation);
  void drain_messages_of(int peer, const Operation& operation);
  void check_header(const Lane& lane, const Operation& operation, const MessageHeader& header) const;
  std::size_t receive_part(Lane& lane);
  void wait(const Operation& operation);
  void wait_for_barrier(const Operation& operation);
  template <class Sleep>
  void sleep_for(int late, const Sleep& sleep);
  void fail_if_alarmed(const Operation& operation) const;
  [[noreturn]] void disagree(const Operation& operation, int peer, std::uint64_t bytes, const Operation& its) const;
  bool could_move() const;
  // Throws the failure state's verdict, or else what this rank saw itself.
  [[noreturn]] void fail(const Lane& lane, const Operation& operation, const std::string& why) const;

  LinkSet set_;
  LinkWaiter link_waiter_;
  std::vector<Lane> lanes_;  // of the current run(): the first lanes_used_
  std::size_t lanes_used_ = 0;
  std::vector<std::int64_t> waited_ns_;  // per rank
  std::vector<std::byte> short_;         // staging for a header and a short message, which are sent in one piece
};

}  // namespace trireme::comm
