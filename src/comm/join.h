// Joining a group of processes: they meet at one address, in any order; rank 0 holds it. Ranks of one host talk through
// shared memory, others over TCP.
#pragma once

#include <string>

#include "comm/arbiter.h"
#include "comm/group.h"

namespace trireme::comm {

struct JoinOptions {
  Address address;  // of the meeting
  std::string token;
  int rank = 0, world = 1;
  std::string program = "trireme";  // equal on all ranks
  bool only_tcp = false;            // also between ranks of one host
  bool tls = false;                 // TCP connections are encrypted; equal on all ranks
  double join_seconds = 60;         // until all must be there
  double deadline_seconds = 60;     // of a collective in which nothing moves
  Patience patience{};
};

inline Secrecy secrecy_of(const JoinOptions& options) { return {options.token, options.tls}; }

// A wrong token, world, rank or program is a user error; ranks that do not come are named in a run error.
Group join(const JoinOptions& options);

// After a failure: a new group of those who are left, called by each of them with what is left of its old one. Ranks
// keep their order. When rank 0 is gone the next one that can be reached holds the meeting. Memory of allocate()
// belongs to the old group.
Group regroup(Group broken);

// Of a launcher on the same host as a process that it had started: how that one ended ("was killed by signal 9"). Where
// the arbiter's patience waits for such words they outrank a closed connection.
void tell_ending(const JoinOptions& options, int process, const std::string& how);

}  // namespace trireme::comm
