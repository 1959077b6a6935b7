#include "comm/socket_link.h"

#include <fcntl.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

namespace trireme::comm {
namespace {
// Read at once where bytes are combined: stays in the second-level cache until they are.
constexpr std::size_t kBuffer = std::size_t{128} << 10;
// A short message comes with one system call.
constexpr std::size_t kReadAhead = std::size_t{16} << 10;
}  // namespace

SocketLink::SocketLink(int socket) : socket_(socket), buffer_(kBuffer) {
  fcntl(socket_, F_SETFL, fcntl(socket_, F_GETFL) | O_NONBLOCK);
  const int on = 1;
  setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);  // fails on other sockets, which never delay
}

SocketLink::~SocketLink() { close(socket_); }

std::size_t SocketLink::send(std::span<const std::byte> bytes) {
  for (;;) {
    const ssize_t count = ::send(socket_, bytes.data(), bytes.size(), MSG_NOSIGNAL);
    if (count >= 0) return static_cast<std::size_t>(count);
    if (errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) throw GoneError(std::strerror(errno));
  }
}

std::size_t SocketLink::receive_now(std::span<std::byte> into) const {
  for (;;) {
    const ssize_t count = ::recv(socket_, into.data(), into.size(), 0);
    if (count > 0) return static_cast<std::size_t>(count);
    if (count == 0 && !into.empty()) throw GoneError("the connection was closed");
    if (count == 0 || errno == EAGAIN || errno == EWOULDBLOCK) return 0;
    if (errno != EINTR) throw GoneError(std::strerror(errno));
  }
}

std::span<const std::byte> SocketLink::readable(std::size_t wanted) {
  wanted = std::min(wanted, buffer_.size());
  if (end_ - begin_ < wanted) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
    end_ += receive_now(std::span(buffer_).subspan(end_, std::max(wanted, kReadAhead) - end_));
  }
  return {buffer_.data() + begin_, end_ - begin_};
}

std::size_t SocketLink::receive(std::span<std::byte> into) {
  const std::size_t there = std::min(end_ - begin_, into.size());
  std::memcpy(into.data(), buffer_.data() + begin_, there);
  begin_ += there;
  return there < into.size() ? there + receive_now(into.subspan(there)) : there;
}

}  // namespace trireme::comm
