#include "comm/transport/join_transports.h"

#include "comm/membership/join.h"

namespace trireme::comm {
namespace {

Group join_over(const JoinRequest& request, bool only_tcp, bool tls) {
  JoinOptions options{request, only_tcp};
  options.tls = tls;
  return join(options);
}

}  // namespace

Transport auto_transport() {
  return {.name = "auto",
          .summary = "shared memory between processes of one host, TCP between hosts, MPI under mpirun",
          .offered = {.bench_train = false, .bench_collective = false},
          .regroups = true,
          .join = [](const JoinRequest& request) { return join_over(request, false, request.tls); }};
}

Transport shm_transport() {
  return {.name = "shm",
          .summary = "shared memory between processes of one host",
          .offered = {.train = false},
          .regroups = true,
          .join = [](const JoinRequest& request) { return join_over(request, false, request.tls); }};
}

Transport tcp_transport() {
  return {.name = "tcp",
          .summary = "TCP everywhere, also on one host; encrypted with --tls",
          .regroups = true,
          .join = [](const JoinRequest& request) { return join_over(request, true, request.tls); }};
}

Transport tls_transport() {
  return {.name = "tls",
          .summary = "TCP everywhere, also on one host, encrypted",
          .offered = {.train = false, .bench_train = false},
          .regroups = true,
          .join = [](const JoinRequest& request) { return join_over(request, true, true); }};
}

}  // namespace trireme::comm
