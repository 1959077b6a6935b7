#include "comm/transport/tcp/socket.h"

#include <poll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/transport/link/link.h"
#include "comm/transport/tcp/not_now.h"

namespace trireme::comm {
namespace {

bool wait_for(const Socket& socket, short what, std::int64_t deadline_ns) {
  for (;;) {
    pollfd one{socket.descriptor(), what, 0};
    const std::int64_t left = std::max<std::int64_t>(0, deadline_ns - base::now_ns());
    const int found = poll(&one, 1, static_cast<int>((left + 999'999) / 1'000'000));
    if (found > 0) return true;
    if (found == 0 && base::now_ns() >= deadline_ns) return false;
  }
}

constexpr std::size_t kControlBytes = CMSG_SPACE(sizeof(int) * kMostDescriptors);

// At most kMostDescriptors.
void send_message_with(const Socket& socket, std::span<const int> descriptors, std::int64_t deadline_ns) {
  std::byte mark{1};
  iovec content{&mark, 1};
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
  cmsghdr* head = CMSG_FIRSTHDR(&message);
  head->cmsg_level = SOL_SOCKET;
  head->cmsg_type = SCM_RIGHTS;
  head->cmsg_len = CMSG_LEN(descriptors.size_bytes());
  std::memcpy(CMSG_DATA(head), descriptors.data(), descriptors.size_bytes());
  while (sendmsg(socket.descriptor(), &message, MSG_NOSIGNAL) < 0) {
    if (!is_not_now(errno)) throw GoneError(std::strerror(errno));
    if (!wait_writable(socket, deadline_ns)) throw GoneError("it does not take what is sent");
  }
}

void receive_message_with(const Socket& socket, std::span<Socket> descriptors, std::int64_t deadline_ns) {
  std::byte mark{};
  iovec content{&mark, 1};
  alignas(cmsghdr) std::array<std::byte, kControlBytes> control{};
  msghdr message{};
  message.msg_iov = &content;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  ssize_t count = -1;
  while ((count = recvmsg(socket.descriptor(), &message, MSG_CMSG_CLOEXEC)) < 0) {
    if (!is_not_now(errno)) throw GoneError(std::strerror(errno));
    if (!wait_readable(socket, deadline_ns)) throw GoneError("it does not answer");
  }
  std::size_t got = 0;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) continue;
    for (std::size_t i = 0; i < (head->cmsg_len - CMSG_LEN(0)) / sizeof(int); ++i) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(head) + i * sizeof(int), sizeof(int));
      Socket owner(descriptor);
      if (got < descriptors.size()) descriptors[got] = std::move(owner);
      ++got;
    }
  }
  if (count == 0) throw GoneError("the connection was closed");
  if (got != descriptors.size()) throw GoneError("it sent another number of descriptors");
}

}  // namespace

Socket::~Socket() {
  if (descriptor_ >= 0) close(descriptor_);
}

bool wait_readable(const Socket& socket, std::int64_t deadline_ns) { return wait_for(socket, POLLIN, deadline_ns); }
bool wait_writable(const Socket& socket, std::int64_t deadline_ns) { return wait_for(socket, POLLOUT, deadline_ns); }

void shake_hands(const Socket& socket, std::int64_t deadline_ns) {
  while (!socket.tls()->shake_hands())
    if (!wait_for(socket, socket.tls()->wants_to_write() ? POLLOUT : POLLIN, deadline_ns))
      throw GoneError("it does not answer");
}

std::size_t send_some(const Socket& socket, std::span<const std::byte> bytes) {
  if (socket.tls() != nullptr) return socket.tls()->send(bytes);
  const ssize_t count = send(socket.descriptor(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  if (count >= 0) return static_cast<std::size_t>(count);
  if (is_not_now(errno)) return 0;
  throw GoneError(std::strerror(errno));
}

void send_all(const Socket& socket, std::span<const std::byte> bytes, std::int64_t deadline_ns) {
  while (!bytes.empty()) {
    const std::size_t count = send_some(socket, bytes);
    if (count == 0 && !wait_writable(socket, deadline_ns)) throw GoneError("it does not take what is sent");
    bytes = bytes.subspan(count);
  }
}

std::size_t receive_some(const Socket& socket, std::span<std::byte> bytes) {
  if (socket.tls() != nullptr) return socket.tls()->receive(bytes);
  const ssize_t count = recv(socket.descriptor(), bytes.data(), bytes.size(), 0);
  if (count > 0) return static_cast<std::size_t>(count);
  if (count < 0 && is_not_now(errno)) return 0;
  throw GoneError(count == 0 ? "the connection was closed" : std::strerror(errno));
}

void receive_all(const Socket& socket, std::span<std::byte> bytes, std::int64_t deadline_ns) {
  while (!bytes.empty()) {
    const std::size_t count = receive_some(socket, bytes);
    if (count == 0 && !wait_readable(socket, deadline_ns)) throw GoneError("it does not answer");
    bytes = bytes.subspan(count);
  }
}

// A message holds so many at most; both sides cut a longer list at the same places.
void send_descriptors(const Socket& socket, std::span<const int> descriptors, std::int64_t deadline_ns) {
  for (std::size_t i = 0; i < descriptors.size(); i += kMostDescriptors)
    send_message_with(socket, descriptors.subspan(i, std::min(kMostDescriptors, descriptors.size() - i)), deadline_ns);
}

void receive_descriptors(const Socket& socket, std::span<Socket> descriptors, std::int64_t deadline_ns) {
  for (std::size_t i = 0; i < descriptors.size(); i += kMostDescriptors)
    receive_message_with(socket, descriptors.subspan(i, std::min(kMostDescriptors, descriptors.size() - i)),
                         deadline_ns);
}

}  // namespace trireme::comm
