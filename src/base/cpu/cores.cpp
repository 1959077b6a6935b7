#include "base/cpu/cores.h"

#include <hwloc.h>
#include <pthread.h>
#include <sched.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <set>
#include <string>

namespace trireme::base {
namespace {

std::set<int> allowed_cpus() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  std::set<int> cpus;
  if (sched_getaffinity(0, sizeof mask, &mask) == 0)
    for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
      if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
  if (cpus.empty()) cpus.insert(0);
  return cpus;
}

constexpr std::size_t kTopologyBytes = std::size_t{8} << 20;

// One cpu per core in topology order, then the second hardware thread of each core, and so on.
std::vector<int> spread_over_cores(const std::set<int>& allowed) {
  std::vector<int> order;
  std::vector<char>().reserve(kTopologyBytes);  // throws if memory is exhausted, where hwloc would crash
  hwloc_topology_t topology;
  if (hwloc_topology_init(&topology) == 0) {
    if (hwloc_topology_load(topology) == 0) {
      const int cores = hwloc_get_nbobjs_by_type(topology, HWLOC_OBJ_CORE);
      for (unsigned sibling = 0; order.size() < allowed.size() && sibling < 8; ++sibling)
        for (int c = 0; c < cores; ++c) {
          hwloc_obj_t core = hwloc_get_obj_by_type(topology, HWLOC_OBJ_CORE, static_cast<unsigned>(c));
          unsigned nth = 0;
          unsigned cpu = 0;
          hwloc_bitmap_foreach_begin(cpu, core->cpuset) {
            if (allowed.contains(static_cast<int>(cpu)) && nth++ == sibling) order.push_back(static_cast<int>(cpu));
          }
          hwloc_bitmap_foreach_end();
        }
    }
    hwloc_topology_destroy(topology);
  }
  for (const int cpu : allowed)
    if (std::find(order.begin(), order.end(), cpu) == order.end()) order.push_back(cpu);
  return order;
}

// The cgroup's cpu quota in cores, or 0 if there is none.
double cgroup_quota() {
  // Version 2: this process's group and every group above it may set a quota; the smallest applies.
  std::string group = "/";
  std::ifstream groups("/proc/self/cgroup");
  for (std::string line; std::getline(groups, line);)
    if (line.starts_with("0::/")) group = line.substr(3);
  double smallest = 0;
  for (std::filesystem::path path = group;; path = path.parent_path()) {
    std::ifstream limit("/sys/fs/cgroup" + path.string() + "/cpu.max");
    std::string quota;
    double period = 0;
    if (limit >> quota >> period && quota != "max" && period > 0) {
      const double cores = std::stod(quota) / period;
      if (smallest == 0 || cores < smallest) smallest = cores;
    }
    if (path == path.root_path() || path.empty()) break;
  }
  if (smallest > 0) return smallest;
  double period = 0;
  double quota_us = -1;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_quota_us") >> quota_us;
  std::ifstream("/sys/fs/cgroup/cpu/cpu.cfs_period_us") >> period;
  return quota_us > 0 && period > 0 ? quota_us / period : 0;
}

}  // namespace

CorePlan plan_cores() {
  CorePlan plan;
  plan.cpus = spread_over_cores(allowed_cpus());
  plan.usable = static_cast<int>(plan.cpus.size());
  if (const double quota = cgroup_quota(); quota > 0)
    plan.usable = std::max(1, std::min(plan.usable, static_cast<int>(std::ceil(quota))));
  return plan;
}

std::vector<int> cpus_to_pin(const CorePlan& plan, int threads) {
  const bool all = threads == static_cast<int>(plan.cpus.size()) && threads <= plan.usable;
  return all ? plan.cpus : std::vector<int>();
}

bool pin_this_thread(int cpu) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  CPU_SET(cpu, &mask);
  return pthread_setaffinity_np(pthread_self(), sizeof mask, &mask) == 0;
}

void unpin_this_thread(const std::vector<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(cpu, &mask);
  pthread_setaffinity_np(pthread_self(), sizeof mask, &mask);
}

void work_in_background() {
  const sched_param parameter{};
  pthread_setschedparam(pthread_self(), SCHED_BATCH, &parameter);  // if refused, only time is lost
}

}  // namespace trireme::base
