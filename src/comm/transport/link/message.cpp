#include "comm/transport/link/message.h"

#include <algorithm>
#include <cstring>

namespace trireme::comm {
namespace {
// Bytes of content up to which header and content are sent in one piece.
constexpr std::size_t kShort = std::size_t{16} << 10;
}  // namespace

std::size_t send_message(Link& link, std::span<const std::byte> head, std::span<const std::byte> content,
                         std::size_t sent, std::vector<std::byte>& scratch) {
  const std::size_t all = message_bytes(head.size(), content.size());
  if (content.size() <= kShort) {
    scratch.assign(all, std::byte{});
    std::memcpy(scratch.data(), head.data(), head.size());
    if (!content.empty()) std::memcpy(scratch.data() + head.size(), content.data(), content.size());
    return link.send(std::span<const std::byte>(scratch).subspan(sent));
  }
  if (sent < head.size()) return link.send(head.subspan(sent));
  const std::size_t of_content = sent - head.size();
  if (of_content < content.size()) return link.send(content.subspan(of_content));
  constexpr std::byte kPadding[4] = {};
  return link.send(std::span(kPadding).first(all - sent));
}

std::size_t receive_padding(Link& link, std::size_t count) {
  std::byte ignored[4];
  return link.receive(std::span(ignored).first(std::min(count, sizeof ignored)));
}

}  // namespace trireme::comm
