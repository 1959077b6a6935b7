// The worked example of CONTRIBUTING.md for a transport: TCP with encryption that cannot be left out. A transport that
// brings links of its own makes a comm::Mesh of them instead, as src/comm/transport/inproc.cpp does.
#pragma once

#include "comm/transport/join_transports.h"

namespace trireme::own_parts {

inline comm::Transport secure_transport() {
  comm::Transport secure = comm::tcp_transport();
  secure.name = "secure";
  secure.summary = "TCP everywhere, always encrypted";
  secure.join = [join = secure.join](comm::JoinRequest request) {
    request.tls = true;
    return join(request);
  };
  return secure;
}

}  // namespace trireme::own_parts
