// Addresses: parses them and makes sockets of them.
#include <fcntl.h>
#include <fmt/format.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <random>
#include <thread>
#include <vector>

#include "base/error.h"
#include "base/system/clock.h"
#include "base/text/text.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {
namespace {

constexpr int kBacklog = 1024;
constexpr std::chrono::milliseconds kBetweenTries{20};

// One socket address that a name resolved to.
struct ResolvedAddress {
  sockaddr_storage address{};
  socklen_t size = 0;
  int family = 0;
};

ResolvedAddress local_place(const Address& address) {
  ResolvedAddress place;
  place.family = AF_UNIX;
  auto* to = reinterpret_cast<sockaddr_un*>(&place.address);
  to->sun_family = AF_UNIX;
  // '@' stands for the zero byte that begins a name in the abstract namespace.
  base::check(address.host.size() < sizeof to->sun_path, "a local address of {} bytes", address.host.size());
  std::memcpy(to->sun_path + 1, address.host.data() + 1, address.host.size() - 1);
  place.size = static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + address.host.size());
  return place;
}

std::vector<ResolvedAddress> places(const Address& address, bool to_listen) {
  if (address.is_local()) return {local_place(address)};
  addrinfo hints{};
  hints.ai_socktype = SOCK_STREAM;
  hints.ai_flags = AI_NUMERICSERV | (to_listen ? AI_PASSIVE : 0);
  addrinfo* found = nullptr;
  const std::string port = std::to_string(address.port);
  const int error = getaddrinfo(address.host.empty() ? nullptr : address.host.c_str(), port.c_str(), &hints, &found);
  if (error != 0)
    base::user_error("the host '{}' of {} cannot be found: {}; use its address, or add its name to /etc/hosts",
                     address.host, to_text(address), gai_strerror(error));
  const std::unique_ptr<addrinfo, decltype(&freeaddrinfo)> owner(found, freeaddrinfo);
  std::vector<ResolvedAddress> all;
  for (const addrinfo* one = found; one != nullptr; one = one->ai_next) {
    ResolvedAddress place;
    std::memcpy(&place.address, one->ai_addr, one->ai_addrlen);
    place.size = one->ai_addrlen;
    place.family = one->ai_family;
    all.push_back(place);
  }
  return all;
}

Socket make_socket(int family) {
  Socket socket(::socket(family, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0));
  if (!socket.is_open())
    base::run_error("cannot make a socket: {}{}", std::strerror(errno),
                    errno == EMFILE ? "; allow more with ulimit -n" : "");
  const int on = 1;
  // No effect on local sockets, which never delay.
  setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

const sockaddr* raw(const ResolvedAddress& place) { return reinterpret_cast<const sockaddr*>(&place.address); }

// Returns 0 or an errno.
int try_to_connect(const Socket& socket, const ResolvedAddress& place, std::int64_t deadline_ns) {
  if (connect(socket.descriptor(), raw(place), place.size) == 0) return 0;
  if (errno != EINPROGRESS && errno != EAGAIN) return errno;
  if (!wait_writable(socket, deadline_ns)) return ETIMEDOUT;
  int error = 0;
  socklen_t size = sizeof error;
  getsockopt(socket.descriptor(), SOL_SOCKET, SO_ERROR, &error, &size);
  return error;
}

std::string host_of(int (*ask)(int, sockaddr*, socklen_t*), const Socket& socket) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  char text[NI_MAXHOST] = "";
  if (ask(socket.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0 || address.ss_family == AF_UNIX)
    return "localhost";
  getnameinfo(reinterpret_cast<sockaddr*>(&address), size, text, sizeof text, nullptr, 0, NI_NUMERICHOST);
  return text;
}

}  // namespace

Address parse_address(std::string_view text) {
  const auto colon = text.rfind(':');
  if (text.starts_with('@') && text.size() > 1) {
    if (text.size() >= sizeof sockaddr_un::sun_path)
      base::user_error("the local address {} has {} bytes, at most {} are possible", text, text.size(),
                       sizeof sockaddr_un::sun_path - 1);
    return {std::string(text), 0};
  }
  if (colon == std::string_view::npos)
    base::user_error("'{}' is no address; expected host:port, for example 10.0.0.1:4000", text);
  std::string_view host = text.substr(0, colon);
  if (host.starts_with('[') && host.ends_with(']')) host = host.substr(1, host.size() - 2);
  if (host.starts_with('@')) base::user_error("'{}' is no address; one of this host is @name, without a port", text);
  const std::int64_t port = base::parse_int(fmt::format("the port of {}", text), text.substr(colon + 1));
  if (port < 0 || port > 65535) base::user_error("the port of {} is {}, expected 0 to 65535", text, port);
  return {std::string(host), static_cast<int>(port)};
}

std::string to_text(const Address& address) {
  if (address.is_local()) return address.host;
  const bool is_plain = address.host.find(':') == std::string::npos;
  return (is_plain ? address.host : "[" + address.host + "]") + ":" + std::to_string(address.port);
}

Socket listen_on(const Address& address) {
  int error = 0;
  for (const ResolvedAddress& place : places(address, true)) {
    Socket socket = make_socket(place.family);
    const int on = 1;
    setsockopt(socket.descriptor(), SOL_SOCKET, SO_REUSEADDR, &on, sizeof on);
    if (bind(socket.descriptor(), raw(place), place.size) == 0 && listen(socket.descriptor(), kBacklog) == 0)
      return socket;
    error = errno;
  }
  base::user_error("cannot listen on {}: {}{}", to_text(address), std::strerror(error),
                   error == EADDRINUSE ? "; another program has this port, choose another one" : "");
}

int port_of(const Socket& listener) {
  sockaddr_storage address{};
  socklen_t size = sizeof address;
  if (getsockname(listener.descriptor(), reinterpret_cast<sockaddr*>(&address), &size) != 0) return 0;
  if (address.ss_family == AF_INET6) return ntohs(reinterpret_cast<sockaddr_in6*>(&address)->sin6_port);
  return ntohs(reinterpret_cast<sockaddr_in*>(&address)->sin_port);
}

int unused_port() {
  constexpr int kFirst = 10000, kLast = 32000, kTries = 200;
  std::random_device random;
  for (int i = 0; i < kTries; ++i) {
    const int port = kFirst + static_cast<int>(random() % (kLast - kFirst));
    try {
      return port_of(listen_on({"127.0.0.1", port}));
    } catch (const base::Error&) {  // in use
    }
  }
  base::run_error("no unused port was found between {} and {}", kFirst, kLast);
}

Socket connect_to(const Address& address, std::int64_t deadline_ns) {
  const std::int64_t start = base::now_ns();
  int error = ETIMEDOUT;
  do {
    for (const ResolvedAddress& place : places(address, false)) {
      Socket socket = make_socket(place.family);
      error = try_to_connect(socket, place, deadline_ns);
      if (error == 0) return socket;
    }
    std::this_thread::sleep_for(kBetweenTries);
  } while (base::now_ns() < deadline_ns);
  base::run_error("nobody could be reached at {} within {:.1f} s: {}{}", to_text(address), base::seconds_since(start),
                  std::strerror(error),
                  error == ECONNREFUSED ? "; is rank 0 running there?"
                                        : "; is that the right address, or does a firewall "
                                          "stand between?");
}

Socket accept_now(const Socket& listener) {
  Socket socket(accept4(listener.descriptor(), nullptr, nullptr, SOCK_NONBLOCK | SOCK_CLOEXEC));
  const int on = 1;
  if (socket.is_open()) setsockopt(socket.descriptor(), IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
  return socket;
}

std::string own_host(const Socket& connected) { return host_of(getsockname, connected); }
std::string other_host(const Socket& connected) { return host_of(getpeername, connected); }

bool is_of_this_user(const Socket& connected) {
  int family = 0;
  socklen_t size = sizeof family;
  if (getsockopt(connected.descriptor(), SOL_SOCKET, SO_DOMAIN, &family, &size) != 0) return false;
  if (family != AF_UNIX) return true;
  ucred other{};
  size = sizeof other;
  if (getsockopt(connected.descriptor(), SOL_SOCKET, SO_PEERCRED, &other, &size) != 0) return false;
  return other.uid == geteuid() || other.uid == 0;
}

}  // namespace trireme::comm
