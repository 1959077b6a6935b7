// Joining a group of processes: they meet at one address, in any order; rank 0 holds it. Ranks of one host talk through
// shared memory, others over TCP.
#pragma once

#include <string>

#include "comm/group/group.h"
#include "comm/membership/join_request.h"

namespace trireme::comm {

struct JoinOptions : JoinRequest {
  bool only_tcp = false;  // also between ranks of one host
};

inline Secrecy secrecy_of(const JoinOptions& options) { return {options.token, options.tls}; }

// A wrong token, world, rank or program is a user error; ranks that do not come are named in a run error.
Group join(const JoinOptions& options);

// After a failure: a new group of those who are left, called by each of them with its old one, which nobody may use any
// more. Ranks keep their order. When rank 0 is gone the next one that can be reached holds the rendezvous, or nobody
// does (JoinOptions::elects). One that is lost meanwhile is left out. Memory of allocate() belongs to the old group.
Group regroup(const Group& broken);

// Of a launcher on the same host as a process that it had started: how that one ended ("was killed by signal 9"). Where
// the arbiter's patience waits for such words they outrank a closed connection.
void report_exit(const JoinOptions& options, int process, const std::string& how);

// Whether the process that holds the rendezvous answers within so many seconds.
bool is_rendezvous_held(const JoinOptions& options, double seconds);

// In the sentence of a rank that has lost rank 0.
inline constexpr const char* kHoldsGroup = "which holds the group together";

}  // namespace trireme::comm
