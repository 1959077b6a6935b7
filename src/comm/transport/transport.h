// Transport: one way to carry a group's messages, as a row of a registry. A plain value.
// A new transport takes its own files and a line in comm/builtin_transports.cpp. The command line, the launchers and
// the benchmarks read what they need from the row.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text/registry.h"
#include "comm/group/group.h"
#include "comm/membership/join_request.h"

namespace trireme::comm {

// A program that is needed to start the processes of a transport.
struct RequiredLauncher {
  std::string program;  // "mpirun"
  std::string title;    // "MPI"
  std::string package;  // the package to install if it is missing
  // The command that starts `world` processes on this host, without the command of the processes' own program.
  std::function<std::vector<std::string>(int world)> command;
};

// Where users may choose the transport by name.
struct Offers {
  bool train = true;  // also in `trireme list transports`
  bool bench_train = true;
  bool bench_collective = true;
};

struct Transport {
  std::string name;
  std::string summary;
  Offers offered{};
  bool regroups = false;  // regroup() can form a new group after a rank was lost
  std::optional<RequiredLauncher> launcher{};
  // Throws a user error if something that it needs is not installed; empty: it needs nothing.
  std::function<void()> expect_installed{};
  // Joins the group that the request describes; waits for the others. A transport that cannot encrypt must refuse a
  // request for TLS, unless messages stay on the host or the launcher ensures their secrecy.
  std::function<Group(const JoinRequest& request)> join{};
};

using Transports = base::RegistryOf<Transport>;

// The transport of a process that is alone.
inline constexpr const char* kAlone = "inproc";

}  // namespace trireme::comm
