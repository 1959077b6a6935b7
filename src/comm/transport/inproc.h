// The transport `inproc`: a whole group in one process, one rank per thread, over memory.
// Each rank's group may be used in a thread of its own.
// For tests, and for simulations inside one process.
#pragma once

#include <vector>

#include "comm/transport/transport.h"

namespace trireme::comm {

// The groups of rank 0, 1, ...; each may be moved to a thread of its own. Their memory is freed with the last of them.
// `hosts`, if given, is the host number that each rank reports.
std::vector<Group> inproc_groups(int world, double deadline_seconds, std::vector<int> hosts = {});

// For a process that is alone: join() accepts a world of 1 only.
Transport inproc_transport();

}  // namespace trireme::comm
