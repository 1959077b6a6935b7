// LaunchInfo: where a process stands in its job, as whoever launched it told it. Our own launcher
// (cluster/launcher/launch.h) sets TRIREME_LAUNCH_INFO=stdin and writes it as the first line on the process's standard
// input; what follows there is the control pipe (cluster/launcher/control_pipe.h). srun and mpirun tell by variables of
// their own.
#pragma once

#include <optional>
#include <string>

#include "cluster/environment.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {

struct LaunchInfo {
  int rank = 0, world = 1;
  // Where ranks meet; rank 0 holds it. On rank 0 of a job over several hosts the host is empty: all of its addresses.
  // mpirun gives none.
  comm::Address rendezvous{};
  std::string token{};            // of the job
  std::string launcher{};         // "local", "ssh", "slurm", "mpi"
  std::string transport{};        // the name of the one to join with; empty: the process's own settings say it
  bool tls = false;               // connections are encrypted, also where the process's own settings do not say so
  bool has_control_pipe = false;  // standard input carries commands, its end means that the launcher is gone
};

// The launch info of this process; nothing when nobody gave it one (then it is the one the user started). Call once,
// before anything else reads standard input.
std::optional<LaunchInfo> take_launch_info();
// The same from another environment and input.
std::optional<LaunchInfo> take_launch_info(const Environment& environment, int input);

// Launch info as one line of JSON, and back; a line that is none is a user error.
std::string to_line(const LaunchInfo& launch_info);
LaunchInfo launch_info_from_line(const std::string& line);

}  // namespace trireme::cluster
