// TcpLoad: how fast this process's TCP connections to another host are, as the kernel counts it.
// tcp_loads() is thread-safe.
//
// The kernel counts for how long a connection had data to deliver and how much arrived, whoever limited it. So bytes /
// busy_seconds of a slow link is low, and of a connection that is only seldom used is not.
#pragma once

#include <string>
#include <vector>

namespace trireme::observe {

struct TcpLoad {
  std::string local, peer;  // addresses without ports
  double bytes = 0;         // that the peer has acknowledged, over all connections to it
  double busy_seconds = 0;  // in which data was on its way, added over the connections
  bool operator==(const TcpLoad&) const = default;
};

// By pairs of addresses; without connections inside this host by the loopback interface.
std::vector<TcpLoad> tcp_loads();

}  // namespace trireme::observe
