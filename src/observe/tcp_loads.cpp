#include "observe/tcp_loads.h"

#include <arpa/inet.h>
#include <dirent.h>
#include <linux/tcp.h>
#include <sys/socket.h>

#include <array>
#include <cstddef>
#include <cstdlib>
#include <map>
#include <utility>

namespace trireme::observe {
namespace {

constexpr int kTcpLevel = 6;  // IPPROTO_TCP; netinet/in.h and linux/tcp.h do not go together everywhere

// The address of one end of a connection, without its port; empty if it is none of TCP or the loopback interface.
std::string address_of(int descriptor, bool is_peer) {
  sockaddr_storage storage{};
  socklen_t size = sizeof storage;
  auto* address = reinterpret_cast<sockaddr*>(&storage);
  if ((is_peer ? ::getpeername(descriptor, address, &size) : ::getsockname(descriptor, address, &size)) != 0) return {};
  std::array<char, INET6_ADDRSTRLEN> text{};
  if (storage.ss_family == AF_INET) {
    const auto* in = reinterpret_cast<const sockaddr_in*>(&storage);
    if ((ntohl(in->sin_addr.s_addr) >> 24) == 127) return {};
    return ::inet_ntop(AF_INET, &in->sin_addr, text.data(), text.size()) != nullptr ? text.data() : "";
  }
  if (storage.ss_family != AF_INET6) return {};
  const auto* in = reinterpret_cast<const sockaddr_in6*>(&storage);
  if (IN6_IS_ADDR_LOOPBACK(&in->sin6_addr)) return {};
  if (::inet_ntop(AF_INET6, &in->sin6_addr, text.data(), text.size()) == nullptr) return {};
  const std::string name = text.data();
  return name.starts_with("::ffff:") ? name.substr(7) : name;  // IPv4 over an IPv6 socket
}

}  // namespace

std::vector<TcpLoad> tcp_loads() {
  std::map<std::pair<std::string, std::string>, TcpLoad> loads;
  DIR* folder = ::opendir("/proc/self/fd");
  if (folder == nullptr) return {};
  while (const dirent* entry = ::readdir(folder)) {
    char* end = nullptr;
    const long descriptor = std::strtol(entry->d_name, &end, 10);
    if (end == entry->d_name || *end != '\0') continue;
    tcp_info info{};
    socklen_t size = sizeof info;
    if (::getsockopt(static_cast<int>(descriptor), kTcpLevel, TCP_INFO, &info, &size) != 0) continue;
    if (size < offsetof(tcp_info, tcpi_busy_time) + sizeof info.tcpi_busy_time) continue;  // a kernel before 4.10
    const std::string local = address_of(static_cast<int>(descriptor), false);
    const std::string peer = address_of(static_cast<int>(descriptor), true);
    if (local.empty() || peer.empty() || local == peer) continue;
    TcpLoad& load = loads[{local, peer}];
    load.local = local;
    load.peer = peer;
    load.bytes += static_cast<double>(info.tcpi_bytes_acked);
    load.busy_seconds += 1e-6 * static_cast<double>(info.tcpi_busy_time);
  }
  ::closedir(folder);
  std::vector<TcpLoad> all;
  for (auto& [pair, load] : loads) all.push_back(std::move(load));
  return all;
}

}  // namespace trireme::observe
