// LaunchInfo: rank, world, rendezvous and token of a process, as its launcher passed them.
// A plain value.
//
// Our own launcher (cluster/launcher/launch.h) sets TRIREME_LAUNCH_INFO=stdin and writes the launch info as the first
// line on the process's standard input; after that line, standard input is the control pipe
// (cluster/launcher/control_pipe.h). srun and mpirun pass it in environment variables of their own.
#pragma once

#include <optional>
#include <string>

#include "cluster/environment.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {

struct LaunchInfo {
  int rank = 0, world = 1;
  // Rank 0 listens here and the other ranks connect. On rank 0 of a job over several hosts the host is empty: it
  // listens on all addresses. mpirun passes no rendezvous.
  comm::Address rendezvous{};
  std::string token{};            // of the job
  std::string launcher{};         // "local", "ssh", "slurm", "mpi"
  std::string transport{};        // the transport to join with; empty: as in the process's own settings
  bool tls = false;               // connections are encrypted, even if the process's own settings do not ask for it
  bool has_control_pipe = false;  // standard input carries commands; its end means that the launcher has exited
};

// Returns the launch info of this process; nullopt when no launcher passed any, so the user started the process
// directly. REQUIRES: called at most once, before anything else reads standard input.
std::optional<LaunchInfo> take_launch_info();
// The same from the given environment and input.
std::optional<LaunchInfo> take_launch_info(const Environment& environment, int input);

// Launch info as one line of JSON, and back. A line that is no launch info is a user error.
std::string to_line(const LaunchInfo& launch_info);
LaunchInfo launch_info_from_line(const std::string& line);

}  // namespace trireme::cluster
