// Messages between the helm and the other roles of a run, over the group's mailbox.
// Thread-safe.
//
// Orders and reports are typed (orders.h, reports.h); state travels as plain floats. Receiving has no deadline: it
// waits until the message arrives or the group's alarm reports a lost peer.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "comm/group/group.h"
#include "train/messages/orders.h"
#include "train/messages/reports.h"

namespace trireme::train {

enum MessageTag : comm::Tag {
  kOrder = 1,    // helm to worker
  kServerOrder,  // helm to server
  kReport,       // to the helm
  kReportBody,   // to the helm: a long report
  kText,         // to the helm: fingerprints
  kState,        // weights and optimizer state
  kStop,         // helm to worker 0: end the interval after this step
  kAssign,       // helm to a worker: its next share
  kGroupShare,   // leader of a group to its members: the group's next share
  kLimit,        // helm to a worker: how far it may go ahead
  kClock,        // clock comparison
  kResources,    // to the helm: ResourcesUsed
  kSpans,        // to the helm: observe::SpanChunk
};

void send_order(comm::Mailbox& mailbox, int to, MessageTag tag, const Order& order);
Order receive_order(comm::Mailbox& mailbox, int from, MessageTag tag);

// A long report is sent in two messages, so only one thread of a process, the worker's, may send long reports.
void send_report(comm::Mailbox& mailbox, int to, const Report& report);
struct ReceivedReport {
  int from = 0;
  Report report;
};
// Nullopt when none came within `seconds`. `room`: a buffer that the caller keeps from call to call.
std::optional<ReceivedReport> receive_report(comm::Mailbox& mailbox, int from, double seconds,
                                             std::vector<std::byte>& room);

TrafficReply traffic_of(comm::Group& group);
// Answers a SendUpdatesOrder; null: nothing was captured.
void send_updates(comm::Mailbox& mailbox, int to, const strategy::UpdateCapture* captured);

// Messages of bounded size.
inline constexpr std::size_t kLongestFixed = 64;
template <HasFields T>
void send_message(comm::Mailbox& mailbox, int to, MessageTag tag, const T& message) {
  const std::string bytes = encode(message);
  base::check(bytes.size() <= kLongestFixed, "a message of {} bytes, at most {} are received", bytes.size(),
              kLongestFixed);
  mailbox.send(to, tag, std::as_bytes(std::span(bytes)));
}
// Nullopt when none came within `seconds`.
template <HasFields T>
std::optional<T> receive_message_within(double seconds, comm::Mailbox& mailbox, int from, MessageTag tag) {
  std::array<std::byte, kLongestFixed> bytes{};
  const auto got = mailbox.receive_within(seconds, from, tag, bytes);
  if (!got) return std::nullopt;
  return decode<T>(std::span(bytes).first(got->bytes));
}
template <HasFields T>
T receive_message(comm::Mailbox& mailbox, int from, MessageTag tag) {
  for (;;)
    if (const auto got = receive_message_within<T>(1.0, mailbox, from, tag)) return *got;
}

void send_text(comm::Mailbox& mailbox, int to, comm::Tag tag, std::string_view text);
std::string receive_text(comm::Mailbox& mailbox, int from, comm::Tag tag);

template <class T>
void send_values(comm::Mailbox& mailbox, int to, comm::Tag tag, std::span<const T> values) {
  mailbox.send(to, tag, std::as_bytes(values));
}
// Receives exactly into.size() bytes, without a deadline.
void receive_bytes(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into);

}  // namespace trireme::train
