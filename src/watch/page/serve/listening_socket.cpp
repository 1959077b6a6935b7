#include "watch/page/serve/listening_socket.h"

#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <memory>

#include "base/error.h"

namespace trireme::watch {
namespace {

constexpr int kPortsToTry = 50, kBacklog = 256;

using Addresses = std::unique_ptr<addrinfo, decltype(&::freeaddrinfo)>;

Addresses resolve(const std::string& address) {
  addrinfo hints{};
  hints.ai_family = AF_UNSPEC;
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_PASSIVE;
  addrinfo* found = nullptr;
  if (const int error = ::getaddrinfo(address.c_str(), nullptr, &hints, &found); error != 0)
    base::user_error("the page cannot listen on '{}': {}; give an address of this host, as 127.0.0.1 or 0.0.0.0",
                     address, ::gai_strerror(error));
  return {found, &::freeaddrinfo};
}

void set_port(sockaddr* address, int port) {
  const auto number = htons(static_cast<std::uint16_t>(port));
  if (address->sa_family == AF_INET6)
    reinterpret_cast<sockaddr_in6*>(address)->sin6_port = number;
  else
    reinterpret_cast<sockaddr_in*>(address)->sin_port = number;
}

int port_of(int descriptor) {
  sockaddr_storage address{};
  socklen_t length = sizeof address;
  if (::getsockname(descriptor, reinterpret_cast<sockaddr*>(&address), &length) != 0) return 0;
  return ntohs(address.ss_family == AF_INET6 ? reinterpret_cast<sockaddr_in6*>(&address)->sin6_port
                                             : reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

// The descriptor, or minus the error's number.
int try_port(const addrinfo& address, int port) {
  const int descriptor = ::socket(address.ai_family, SOCK_STREAM | SOCK_CLOEXEC, 0);
  if (descriptor < 0) return -errno;
  const int yes = 1;
  ::setsockopt(descriptor, SOL_SOCKET, SO_REUSEADDR, &yes, sizeof yes);
  set_port(address.ai_addr, port);
  if (::bind(descriptor, address.ai_addr, address.ai_addrlen) == 0 && ::listen(descriptor, kBacklog) == 0)
    return descriptor;
  const int error = errno;
  ::close(descriptor);
  return -error;
}

}  // namespace

ListeningSocket open_listening_socket(const std::string& address, int port, bool is_strict) {
  const Addresses addresses = resolve(address);
  const int first = port < 0 ? kPagePort : port;
  int descriptor = -EADDRINUSE;
  std::string note;
  for (int i = 0; i <= kPortsToTry && descriptor < 0; ++i) {
    descriptor = try_port(*addresses, i == kPortsToTry ? 0 : first + i);
    const int error = descriptor < 0 ? -descriptor : 0;
    if (error == EACCES && port > 0 && !is_strict && i == 0) continue;  // below 1024
    if (error != 0 && error != EADDRINUSE)
      base::user_error("the page cannot listen on port {} of {}: {}", first, address, std::strerror(error));
    if (error != 0 && is_strict && port > 0)
      base::user_error("port {} of {} is in use, perhaps by another page; give another one, or 0 for any free one",
                       port, address);
  }
  if (descriptor < 0) base::user_error("no port of {} is free for the page", address);
  const int got = port_of(descriptor);
  if (port > 0 && got != port) note = fmt::format("port {} is in use; the page is at port {} instead", port, got);
  return {descriptor, got, note};
}

}  // namespace trireme::watch
