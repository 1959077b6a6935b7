#include "comm/transport/tcp/socket_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trireme::comm {
SocketLink::SocketLink(Socket socket) : socket_(std::move(socket)), buffer_(kLinkBuffer) {}

std::span<const std::byte> SocketLink::readable(std::size_t wanted) {
  wanted = std::min(wanted, buffer_.size());
  if (end_ - begin_ < wanted) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += receive_some(socket_, std::span(buffer_).subspan(end_, std::max(wanted, kLinkReadAhead) - end_));
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

std::size_t SocketLink::receive(std::span<std::byte> into) {
  const std::size_t there = std::min(end_ - begin_, into.size());
  std::memcpy(into.data(), buffer_.data() + begin_, there);
  begin_ += there;
  return there < into.size() ? there + receive_some(socket_, into.subspan(there)) : there;
}

}  // namespace trireme::comm
