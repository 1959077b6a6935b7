// Network: some hosts of one machine, each in a network namespace of its own, with cables (veth) of some bandwidth (tc)
// to a switch with delay and loss, where they can be cut. The switch is a process that passes packets on, because not
// every kernel has netem.
#pragma once

#include <sys/types.h>

#include <string>
#include <vector>

#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

class Network {
 public:
  struct Shape {
    double bits_per_second = 1e9;  // that a host sends
    double delay_seconds = 0.0002;
    double loss = 0;  // of packets, 0 to 1
  };

  // Why there can be none here; empty when there can.
  static std::string why_not();

  Network(int hosts, const Shape& shape);
  ~Network();
  Network(const Network&) = delete;
  Network& operator=(const Network&) = delete;

  std::string address(int host) const;
  // This process is on that host from now on.
  void enter(int host) const;
  // Nothing comes from it or gets to it any more, until it is called again.
  void cut(int host) const;
  void mend(int host) const { cut(host); }

 private:
  std::vector<Socket> namespaces_;
  Socket orders_;  // to the switch
  pid_t switch_ = -1;
};

}  // namespace trireme::comm
