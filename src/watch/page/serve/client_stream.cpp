#include "watch/page/serve/client_stream.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/system/clock.h"

namespace trireme::watch {

bool send_all(int socket, std::string_view text, double seconds) {
  const std::int64_t deadline = base::in_seconds(seconds);
  while (!text.empty()) {
    const ssize_t sent = ::send(socket, text.data(), text.size(), MSG_NOSIGNAL | MSG_DONTWAIT);
    if (sent > 0) {
      text.remove_prefix(static_cast<std::size_t>(sent));
      continue;
    }
    if (sent < 0 && errno != EAGAIN && errno != EWOULDBLOCK && errno != EINTR) return false;
    const std::int64_t left = (deadline - base::now_ns()) / 1'000'000;
    pollfd waited{socket, POLLOUT, 0};
    if (left <= 0 || (::poll(&waited, 1, static_cast<int>(left)) < 0 && errno != EINTR)) return false;
  }
  return true;
}

void close_politely(int socket) {
  ::shutdown(socket, SHUT_WR);
  // Bytes that were never read would make the system reset the connection and drop the answer.
  std::array<char, 4096> rest{};
  const std::int64_t deadline = base::in_seconds(0.3);
  for (std::size_t total = 0; total < (1 << 20);) {
    pollfd waited{socket, POLLIN, 0};
    const std::int64_t left = (deadline - base::now_ns()) / 1'000'000;
    if (left <= 0 || ::poll(&waited, 1, static_cast<int>(left)) <= 0) break;
    const ssize_t got = ::recv(socket, rest.data(), rest.size(), MSG_DONTWAIT);
    if (got <= 0) break;
    total += static_cast<std::size_t>(got);
  }
  ::close(socket);
}

bool ClientStream::is_writable() const {
  if (has_failed_) return false;
  pollfd state{socket_, POLLIN | POLLRDHUP, 0};
  if (::poll(&state, 1, 0) < 0) return false;
  return (state.revents & (POLLRDHUP | POLLHUP | POLLERR)) == 0;
}

ssize_t ClientStream::read(char* to, std::size_t size) {
  const std::size_t now = std::min(size, head_.size() - given_);
  std::memcpy(to, head_.data() + given_, now);
  given_ += now;
  return static_cast<ssize_t>(now);
}

ssize_t ClientStream::write(const char* from, std::size_t size) {
  if (!has_failed_ && send_all(socket_, {from, size}, write_seconds_)) return static_cast<ssize_t>(size);
  has_failed_ = true;
  return -1;
}

// Nothing here depends on who asks.
void ClientStream::get_remote_ip_and_port(std::string&, int&) const {}
void ClientStream::get_local_ip_and_port(std::string&, int&) const {}

}  // namespace trireme::watch
