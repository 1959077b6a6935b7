// ResourceTotals: what the whole cluster has used, from the figures of all its hosts and processes. Thread-safe.
#pragma once

#include <map>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <utility>

#include "observe/kernel_file.h"
#include "observe/resource_figures.h"

namespace trireme::observe {

struct ClusterUse {
  int hosts = 0;
  double cores = 0;                          // of all hosts
  double cpu_share = kNotTold;               // of them; with what else ran there
  double cpu_share_of_run = kNotTold;        // of the cores that the run may use: by the run alone
  double network_bytes = 0;                  // received by all hosts
  double network_peak_bytes_per_second = 0;  // received or sent by all hosts, whichever is more
  double memory_peak_bytes = 0;              // of all hosts; with what else ran there
  double memory_peak_of_run_bytes = 0;       // of all processes of the run; memory that they share counts once
};

class ResourceTotals {
 public:
  // `now_seconds`: of a clock that never goes back.
  void add(const ResourceFigures& figures, double now_seconds);
  // Nothing before the first figures.
  std::optional<ClusterUse> total() const;

 private:
  struct Newest {
    ResourceFigures figures;
    double seconds = 0;  // when they came
  };

  void add_up_newest(double now_seconds);

  struct Host {
    double cores = 0;
    double used = 0, had = 0;       // seconds of its cores: busy, and all
    std::set<int> usable;           // the cores that the run may use
    double limit = 0;               // how many of them at the same time; 0: all
    std::set<std::string> known;    // the lists of cores that are in `usable`
    double used_by_run = 0;         // seconds of cores
    std::map<int, double> seconds;  // by rank: that its figures cover
  };

  mutable std::mutex mutex_;
  std::map<std::pair<std::string, int>, Newest> newest_;  // by host and rank
  std::map<std::string, Host> hosts_;
  ClusterUse use_;
};

}  // namespace trireme::observe
