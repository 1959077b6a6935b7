// Processes on other hosts: the ssh command that starts one, and the address at which all ranks find rank 0.
#pragma once

#include <string>
#include <vector>

#include "cluster/launcher/launch.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::cluster {

// Whether a host's name means this one.
bool is_here(const std::string& host);

// Quoted for a shell, if it needs to be.
std::string quoted(const std::string& word);

// `ssh OPTIONS HOST COMMAND`, where the command is one for a POSIX shell, whatever the user's own is. The shell stays
// to tell by its exit code how the program ended.
std::vector<std::string> ssh_command(const Job& job, const std::string& host);

// Where the ranks of the job meet, for all but rank 0; see LaunchInfo::rendezvous for that.
comm::Address rendezvous_of(const Job& job);
// For rank 0 when that is the rendezvous.
comm::Address held_rendezvous(const Job& job, const comm::Address& rendezvous);

}  // namespace trireme::cluster
