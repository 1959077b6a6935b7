// Mail: what the helm and the other roles of a job tell each other over the group's post. Orders are short JSON texts;
// reports of steps are rows of numbers; state and traces are bytes. Whoever waits here waits as long as the other side
// lives, which the group watches over.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/group.h"

namespace trireme::train {

enum MailTag : comm::Tag {
  kOrder = 1,    // helm to worker: what to do next
  kServerOrder,  // helm to server
  kReport,       // to the helm: rows of numbers
  kText,         // to the helm: ledgers, traces, introductions
  kState,        // weights and optimizer state
  kStop,         // helm to worker 0: end the stretch after this step
  kAssign,       // helm to a worker: its next share
  kGroupShare,   // leader of a group to its members: the group's next share
  kLimit,        // helm to a worker: how far it may go ahead
  kClock,        // comparing clocks
  kResources,    // lines of resources.jsonl
};

void send_text(comm::Post& post, int to, comm::Tag tag, std::string_view text);
std::string receive_text(comm::Post& post, int from, comm::Tag tag);

// The bytes that a process gave to others and got from them, told to the helm.
struct Bytes {
  std::uint64_t sent = 0, received = 0;
};
void send_traffic(comm::Group& group, int helm);
Bytes receive_traffic(comm::Post& post, int from);

template <class T>
void send_values(comm::Post& post, int to, comm::Tag tag, std::span<const T> values) {
  post.send(to, tag, std::as_bytes(values));
}
// Exactly so many bytes, whenever they come.
void receive_bytes(comm::Post& post, int from, comm::Tag tag, std::span<std::byte> into);

// What a row of numbers has at most.
inline constexpr std::size_t kMostNumbers = 64 * 1024;
// One from anybody, in the front of `room`; nothing when none came in time.
struct Row {
  int from = 0;
  std::span<const double> numbers;
};
std::optional<Row> receive_row(comm::Post& post, comm::Tag tag, double seconds, std::span<double> room);

}  // namespace trireme::train
