// Pipes between a launcher and its processes.
#pragma once

#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {

struct Pipe {
  comm::Socket read, write;
};

// Closed in programs that are started, and never one of the three standard descriptors. A run error when there are none
// left.
Pipe make_pipe();
void set_non_blocking(const comm::Socket& end);

}  // namespace trireme::cluster
