// WorkerGroups: workers that compute a share together. The first of each group, its leader, talks to the servers.
#pragma once

#include <string>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::strategy {

using WorkerGroups = std::vector<std::vector<int>>;  // the workers of each, in order; the first one leads

// Contiguous ones, as even as possible; and one for every host, of the workers there.
WorkerGroups groups_by_count(int workers, int count);
WorkerGroups groups_by_host(const std::vector<std::string>& hosts_of_workers);

// The oars of a pusher's share that one of its workers computes.
base::Range oars_of_member(base::Range share, int member, int members);

// The first worker of each group.
std::vector<int> leaders_of(const WorkerGroups& groups);

}  // namespace trireme::strategy
