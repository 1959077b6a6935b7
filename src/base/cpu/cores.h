// Finds out which cores this process may use (affinity, cgroup limits; hwloc), and pins threads to them. Thread-safe.
#pragma once

#include <vector>

namespace trireme::base {

struct CorePlan {
  std::vector<int> cpus;  // operating-system cpu numbers: one per physical core first, then their hardware siblings
  int usable = 1;         // threads that can run at the same time: min(cpus, cgroup quota rounded up)
};

// Reads the affinity mask, the cgroup cpu quota (v1 and v2) and the topology.
CorePlan plan_cores();

// The cpus to pin `threads` threads to: all cpus if the threads use every one of them, else none. If some cores stay
// free, the system places threads better, because it moves them around other load.
std::vector<int> cpus_to_pin(const CorePlan& plan, int threads);

// Pins the calling thread; false if the system refuses (the run continues unpinned).
bool pin_this_thread(int cpu);
// Allows the calling thread to run on all of `cpus` again (helper threads inherit the mask of a pinned thread).
void unpin_this_thread(const std::vector<int>& cpus);

// For a thread that prepares work for others: when it wakes, it waits for a free moment of its core instead of
// preempting a computing thread.
void work_in_background();

}  // namespace trireme::base
