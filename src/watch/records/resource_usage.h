// ResourceUsage: what a run used of its machines, from resources.jsonl, second by second and as totals of the cluster.
// A value; read_resources() is thread-safe.
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "base/system/files.h"

namespace trireme::watch {

struct ResourceUsage {
  using Series = std::vector<std::pair<double, double>>;  // seconds since the first line, value
  // Totals over all processes or hosts. A series is empty where nothing is recorded.
  Series run_cores, run_memory;  // cores used by the run's processes; their resident bytes, shared memory once per
                                 // process
  Series cpu_share;              // of all cores of the hosts, used by anybody, 0 ... 1
  Series host_memory;            // bytes in use on the hosts
  Series network;                // bytes per second of all hosts, received or sent, whichever is more
  std::vector<std::string> hosts;
  double cores = 0;  // of all hosts; 0 if unknown

  bool is_empty() const { return run_cores.empty() && cpu_share.empty(); }
};

// Empty if the run has recorded nothing; damaged lines are left out.
ResourceUsage read_resources(const base::fs::path& run);

double mean_of_series(const ResourceUsage::Series& series);  // NaN if it is empty
double peak_of_series(const ResourceUsage::Series& series);

}  // namespace trireme::watch
