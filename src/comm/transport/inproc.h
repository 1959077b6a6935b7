// The transport `inproc`: a whole group in one process, one rank per thread, through memory. For tests, and for what
// one process simulates.
#pragma once

#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

// The groups of rank 0, 1, ...; each may go to a thread of its own. They share memory that goes with the last of them.
// `hosts`, where given, are the numbers of hosts that ranks are told to be on.
std::vector<Group> inproc_groups(int world, double deadline_seconds, std::vector<int> hosts = {});

// For a process that is alone: its join() takes a world of 1.
Transport inproc_transport();

}  // namespace trireme::comm
