// Starts a process of a job on this host, or on another by ssh; and the address at which all ranks reach rank 0.
// Thread-safe.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/process/child_process.h"
#include "cluster/launcher/launch.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {

// True when the name means this machine: "" or "localhost".
bool is_here(const std::string& host);

// The word quoted for a POSIX shell, if it needs quotes.
std::string quoted(const std::string& word);

// Returns `ssh OPTIONS HOST COMMAND`. The command runs in a POSIX shell, whatever the user's login shell is. That shell
// stays alive until the program ends, and passes on its exit code, or 128 + signal.
std::vector<std::string> ssh_command(const Job& job, const std::string& host);

// Starts the job's command on a host; "" means this one. The process reads its launch info from standard input.
// `environment`: the variables of the process, or of ssh. `inherits_output`: it writes where this process writes,
// instead of into pipes.
std::unique_ptr<base::ChildProcess> start_on_host(const Job& job, const std::string& host,
                                                  const std::vector<std::string>& environment, bool inherits_output);

// The rendezvous to which all ranks but 0 connect.
comm::Address rendezvous_of(const Job& job);
// The address on which rank 0 listens for that rendezvous; see LaunchInfo::rendezvous.
comm::Address held_rendezvous(const Job& job, const comm::Address& rendezvous);

}  // namespace trireme::cluster
