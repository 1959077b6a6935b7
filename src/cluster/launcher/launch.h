// launch(): starts the processes of a job, on this machine and on others, and returns when all have ended.
// One job at a time in a process: it installs signal handlers.
//
// Each process gets its launch info (cluster/launch_info.h). The launcher takes no part in their communication: it
// forwards signals and output, names the process that failed first, and leaves no process running.
#pragma once

#include <string>
#include <vector>

namespace trireme::cluster {

struct Job {
  std::vector<std::string> command{};  // of every process; command[0] is the absolute path of the program
  int world = 1;
  std::vector<std::string> hosts{};  // per rank: a name for ssh; "" or "localhost": this machine. Empty: all here
  std::vector<std::string> names{};  // per rank, shown to the user: "worker 2". Empty: "rank 2"
  std::string ssh = "ssh";           // the command with options, split at blanks: "ssh -p 2222 -i key"
  std::string directory{};           // the working directory on other hosts; empty: the current one
  int port = 0;                      // of the rendezvous; 0: an unused one
  std::string transport{};           // all ranks join with it; empty: as in their own settings
  bool tls = false;                  // must equal the ranks' setting: the launcher connects to their rendezvous too
  double start_seconds = 60;         // timeout until all ranks have joined
  double ending_seconds = 10;        // timeout for the other ranks to exit after rank 0 has exited with 0
};

// Returns the exit code of the job: that of rank 0; 1 when rank 0 was killed; 2 when a process could not be started or
// rejected its arguments; 128 + signal after a second SIGINT or SIGTERM.
//
// Signals: the first SIGINT, SIGTERM or SIGHUP goes to rank 0 as "interrupt" on its control pipe, and rank 0 shuts the
// job down cleanly. A second SIGINT or SIGTERM ends all processes.
// Output: rank 0 inherits standard output and standard error. The lines of the other ranks appear on standard error,
// prefixed with the rank's name.
// Failures: the launcher names the process that failed first. The other processes decide themselves whether they can go
// on without it, unless it failed before the rendezvous can have completed: then the launcher ends the job. When other
// ranks report that they lost rank 0, and rank 0 does not answer the launcher either (it is stopped or hangs), the
// launcher kills rank 0 and names it.
int launch(const Job& job);

}  // namespace trireme::cluster
