#include "comm/transport/tcp/socket_link.h"

#include <algorithm>
#include <cstring>
#include <utility>

namespace trireme::comm {
namespace {
// Size of a read when bytes are combined from the buffer: they stay in the L2 cache until then.
constexpr std::size_t kBuffer = std::size_t{128} << 10;
// Bytes to read ahead, so that a short message takes one system call.
constexpr std::size_t kReadAhead = std::size_t{16} << 10;
}  // namespace

SocketLink::SocketLink(Socket socket) : socket_(std::move(socket)), buffer_(kBuffer) {}

std::span<const std::byte> SocketLink::readable(std::size_t wanted) {
  wanted = std::min(wanted, buffer_.size());
  if (end_ - begin_ < wanted) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += receive_some(socket_, std::span(buffer_).subspan(end_, std::max(wanted, kReadAhead) - end_));
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
