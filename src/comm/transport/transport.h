// Transport: one way to carry a group's messages, as a row of a registry. Adding one takes its own files and a line in
// comm/builtin_transports.cpp; the command line, the launchers and the benchmarks read what they need from the row.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/text/registry.h"
#include "comm/group/group.h"
#include "comm/membership/join_request.h"

namespace trireme::comm {

// A program that alone can start the processes of a transport.
struct RequiredLauncher {
  std::string program;  // "mpirun"
  std::string title;    // "MPI"
  std::string package;  // what to install where it is missing
  // The words that start `world` processes on this host; the words of the processes' own program follow.
  std::function<std::vector<std::string>(int world)> command;
};

// Where users may name a transport.
struct Offers {
  bool train = true;  // also in `trireme list transports`
  bool bench_train = true;
  bool bench_collective = true;
};

struct Transport {
  std::string name;
  std::string summary;
  Offers offered{};
  bool regroups = false;  // regroup() forms a group again after a rank was lost
  std::optional<RequiredLauncher> launcher{};
  // A user error where something that it needs is not installed; empty: it needs nothing.
  std::function<void()> expect_installed{};
  // Joins the group that the request describes; waits for the others. A transport that cannot encrypt must refuse a
  // request for TLS, unless messages stay on the host or the launcher takes care of their secrecy.
  std::function<Group(const JoinRequest& request)> join{};
};

using Transports = base::RegistryOf<Transport>;

// The name of the transport of a process that is alone.
inline constexpr const char* kAlone = "inproc";

}  // namespace trireme::comm
