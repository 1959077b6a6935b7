// ResourceWatch: samples the resource usage of this process, and of its host, once per period.
// The sampling runs in a thread of its own; the functions here are safe from any thread.
// A sample is a line of resources.jsonl with the figures that totals need, see docs/run_folder.md.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include "base/cpu/cores.h"
#include "observe/events.h"

namespace trireme::observe {

double resident_bytes();
// The largest resident size since the start or the last reset.
double peak_resident_bytes();
// Resets the peak to the current resident size, if the system allows it.
void reset_peak_resident();

std::string host_name();

// The host and rank that the samples name.
struct Watched {
  std::string host = host_name();
  int rank = 0;
  bool with_host = true;  // also writes the lines about the host: one process of each host does
  int core_limit = 0;     // see core_limit()
};

// How many of these cores the control group lets the process use at the same time; 0 if all.
int core_limit(const base::CorePlan& cores);

// If it throws, the run continues with a warning and without further samples.
using ResourceReceiver = std::function<void(ResourcesUsed)>;

class ResourceWatch {
 public:
  // The sampling thread calls the receiver, for the last time during destruction. It may run on any of `cpus`, even if
  // the calling thread is pinned elsewhere; if `cpus` is empty, it inherits the caller's affinity. The first samples
  // come early, so that short runs have some.
  explicit ResourceWatch(ResourceReceiver receiver, double period_seconds = 1.0, std::vector<int> cpus = {},
                         Watched watched = {});
  ~ResourceWatch();

 private:
  void watch(double period_seconds);
  bool wait(double seconds);  // false when the watch is to stop

  ResourceReceiver receiver_;
  std::vector<int> cpus_;
  Watched watched_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trireme::observe
