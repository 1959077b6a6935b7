// Launching: starts the processes of a job, here and on other hosts, and stays until all have ended. Each is told its
// launch info (cluster/launch_info.h). What happens between them is theirs; the launcher passes on signals and output,
// tells who failed first, and sees to it that none is left.
#pragma once

#include <string>
#include <vector>

namespace trireme::cluster {

struct Job {
  std::vector<std::string> command{};  // of every process; command[0] is the absolute path of the program
  int world = 1;
  std::vector<std::string> hosts{};  // per rank: a name for ssh; "" or "localhost": here. None: all here
  std::vector<std::string> names{};  // per rank, for people: "worker 2". None: "rank 2"
  std::string ssh = "ssh";           // with options, split at blanks: "ssh -p 2222 -i key"
  std::string directory{};           // where to work on other hosts; empty: as here
  int port = 0;                      // of the rendezvous; 0: one that is free
  std::string transport{};           // with which all join; empty: as their own settings say
  bool tls = false;                  // as the ranks join: how processes ended is told to them
  double start_seconds = 60;         // until all have found together
  double ending_seconds = 10;        // after rank 0 has ended well, for the others to end too
};

// Returns the exit code of the job: rank 0's; 1 when rank 0 was killed, 2 when a process could not be started or was
// started wrongly, 128 + signal after a second SIGINT or SIGTERM.
//
// A first signal (SIGINT, SIGTERM, SIGHUP) is passed on to rank 0 as "interrupt" on its control pipe; rank 0 ends the
// job in good order. Rank 0 has this process's standard output and standard error; the lines of others come on standard
// error with their names in front. The first process that fails is named; the others are left to decide whether they
// can go on without it, unless it failed before they could have met. Rank 0 is killed, and named, when others have lost
// it and it does not answer the launcher either: it was stopped, or hangs.
int launch(const Job& job);

}  // namespace trireme::cluster
