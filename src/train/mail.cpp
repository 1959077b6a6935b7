#include "train/mail.h"

#include "base/error.h"

namespace trireme::train {
namespace {
constexpr double kLookSeconds = 1;  // between two looks at who is still there
}

void receive_bytes(comm::Post& post, int from, comm::Tag tag, std::span<std::byte> into) {
  for (;;) {
    const auto got = post.receive_within(kLookSeconds, from, tag, into);
    if (!got) continue;
    base::check(got->bytes == into.size(), "a message of {} bytes from process {} where {} were expected", got->bytes,
                from, into.size());
    return;
  }
}

void send_text(comm::Post& post, int to, comm::Tag tag, std::string_view text) {
  const std::uint64_t size = text.size();
  post.send(to, tag, std::as_bytes(std::span(&size, 1)));
  post.send(to, tag, std::as_bytes(std::span(text)));
}

std::string receive_text(comm::Post& post, int from, comm::Tag tag) {
  std::uint64_t size = 0;
  receive_bytes(post, from, tag, std::as_writable_bytes(std::span(&size, 1)));
  std::string text(size, '\0');
  receive_bytes(post, from, tag, std::as_writable_bytes(std::span(text)));
  return text;
}

std::optional<Row> receive_row(comm::Post& post, comm::Tag tag, double seconds, std::span<double> room) {
  const auto got = post.receive_within(seconds, comm::kAnyRank, tag, std::as_writable_bytes(room));
  if (!got) return std::nullopt;
  return Row{got->from, room.first(got->bytes / sizeof(double))};
}

void send_traffic(comm::Group& group, int helm) {
  const Bytes bytes{group.traffic().sent(), group.traffic().received()};
  send_values<Bytes>(group.post(), helm, kText, std::span(&bytes, 1));
}

Bytes receive_traffic(comm::Post& post, int from) {
  Bytes bytes;
  receive_bytes(post, from, kText, std::as_writable_bytes(std::span(&bytes, 1)));
  return bytes;
}

}  // namespace trireme::train
