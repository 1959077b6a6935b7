// WorkerGroups: lists of workers that compute a share together. The first of each, its leader, talks to the servers.
// Plain values; the functions are thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

using WorkerGroups = std::vector<std::vector<int>>;  // the workers of each group, in order; the first one leads

// `count` groups of contiguous workers, as even as possible.
WorkerGroups groups_by_count(int workers, int count);
// One group per host, of the workers there.
WorkerGroups groups_by_host(const std::vector<std::string>& hosts_of_workers);

// The oars of a group's share that member number `member` computes.
base::Range oars_of_member(base::Range share, int member, int members);

// The first worker of each group.
std::vector<int> leaders_of(const WorkerGroups& groups);

}  // namespace trireme::strategy
