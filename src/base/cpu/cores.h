// Cores: how many this process may use (affinity, cgroup limits), and pinning threads to them (hwloc).
#pragma once

#include <vector>

namespace trireme::base {

struct CorePlan {
  std::vector<int> cpus;  // operating-system cpu numbers: one per physical core first, then their hardware siblings
  int usable = 1;         // threads that can really run at once: min(cpus, cgroup quota rounded up)
};

// Reads the affinity mask, the cgroup cpu quota (v1 and v2) and the topology.
CorePlan plan_cores();

// Where to pin that many threads: all cpus when the threads use every one of them, else none. Threads that leave cores
// free are better moved by the system, around whatever else runs.
std::vector<int> cpus_to_pin(const CorePlan& plan, int threads);

// Pins the calling thread; false when the system refuses (the run goes on unpinned).
bool pin_this_thread(int cpu);
// Lets the calling thread run on any of the cpus again (helper threads of a pinned thread inherit its mask).
void unpin_this_thread(const std::vector<int>& cpus);

// For a thread that works ahead for others: when it wakes it waits for a free moment of its core instead of taking the
// place of a thread that computes.
void work_in_background();

}  // namespace trireme::base
