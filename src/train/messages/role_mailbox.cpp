#include "train/messages/role_mailbox.h"

#include "base/error.h"

namespace trireme::train {
namespace {
constexpr double kMailboxLookSeconds = 1;  // how often to check that the group is alive
constexpr std::size_t kReportRoom = std::size_t{512} << 10;
// In place of the alternative's byte: the message has only the size of the report, which follows as kReportBody.
constexpr std::uint8_t kLongReport = 0xff;
}  // namespace

void receive_bytes(comm::Mailbox& mailbox, int from, comm::Tag tag, std::span<std::byte> into) {
  for (;;) {
    const auto got = mailbox.receive_within(kMailboxLookSeconds, from, tag, into);
    if (!got) continue;
    base::check(got->bytes == into.size(), "a message of {} bytes from process {} where {} were expected", got->bytes,
                from, into.size());
    return;
  }
}

void send_text(comm::Mailbox& mailbox, int to, comm::Tag tag, std::string_view text) {
  const std::uint64_t size = text.size();
  mailbox.send(to, tag, std::as_bytes(std::span(&size, 1)));
  mailbox.send(to, tag, std::as_bytes(std::span(text)));
}

std::string receive_text(comm::Mailbox& mailbox, int from, comm::Tag tag) {
  std::uint64_t size = 0;
  receive_bytes(mailbox, from, tag, std::as_writable_bytes(std::span(&size, 1)));
  std::string text(size, '\0');
  receive_bytes(mailbox, from, tag, std::as_writable_bytes(std::span(text)));
  return text;
}

void send_order(comm::Mailbox& mailbox, int to, MessageTag tag, const Order& order) {
  const std::string bytes = encode(order);
  base::check(bytes.size() <= kLongestFixed, "the order to {} has {} bytes, at most {} are received", name_of(order),
              bytes.size(), kLongestFixed);
  mailbox.send(to, tag, std::as_bytes(std::span(bytes)));
}

Order receive_order(comm::Mailbox& mailbox, int from, MessageTag tag) {
  std::array<std::byte, kLongestFixed> bytes{};
  for (;;)
    if (const auto got = mailbox.receive_within(kMailboxLookSeconds, from, tag, bytes))
      return decode<Order>(std::span(bytes).first(got->bytes));
}

void send_report(comm::Mailbox& mailbox, int to, const Report& report) {
  const std::string bytes = encode(report);
  if (bytes.size() <= kReportRoom) return mailbox.send(to, kReport, std::as_bytes(std::span(bytes)));
  MessageWriter announcement;
  announcement(kLongReport);
  announcement(static_cast<std::uint64_t>(bytes.size()));
  const std::string size = announcement.take();
  mailbox.send(to, kReport, std::as_bytes(std::span(size)));
  mailbox.send(to, kReportBody, std::as_bytes(std::span(bytes)));
}

void send_updates(comm::Mailbox& mailbox, int to, const strategy::UpdateCapture* captured) {
  const std::vector<base::Range> ranges = captured == nullptr ? std::vector<base::Range>() : captured->ranges();
  send_report(mailbox, to, UpdatesReply{ranges});
  for (const base::Range& range : ranges) {
    send_values<float>(mailbox, to, kState, captured->gradients(range));
    send_values<float>(mailbox, to, kState, captured->updates(range));
  }
}

TrafficReply traffic_of(comm::Group& group) { return {group.traffic().sent(), group.traffic().received()}; }

std::optional<ReceivedReport> receive_report(comm::Mailbox& mailbox, int from, double seconds,
                                             std::vector<std::byte>& room) {
  room.resize(kReportRoom);
  const auto got = mailbox.receive_within(seconds, from, kReport, room);
  if (!got) return std::nullopt;
  const std::span<const std::byte> bytes = std::span(room).first(got->bytes);
  if (bytes.empty() || static_cast<std::uint8_t>(bytes[0]) != kLongReport)
    return ReceivedReport{got->from, decode<Report>(bytes)};
  MessageReader announcement(bytes.subspan(1));
  std::uint64_t size = 0;
  announcement(size);
  announcement.expect_end();
  std::vector<std::byte> body(size);
  receive_bytes(mailbox, got->from, kReportBody, body);
  return ReceivedReport{got->from, decode<Report>(body)};
}

}  // namespace trireme::train
