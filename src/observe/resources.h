// Resources: what this process uses, sampled in the background once per period into resources.jsonl: CPU user and
// system share (1 = one core), resident memory, bytes over the host's network interfaces.
#pragma once

#include <condition_variable>
#include <memory>
#include <mutex>
#include <thread>
#include <vector>

#include "base/files.h"

namespace trireme::observe {

struct ResourceSample {
  double seconds = 0;  // steady clock
  double cpu_user_seconds = 0, cpu_system_seconds = 0;
  double resident_bytes = 0;
  double network_received_bytes = 0, network_sent_bytes = 0;  // whole host, loopback left out
};

ResourceSample sample_resources();
double resident_bytes();
// The largest resident size since the start or the last reset.
double peak_resident_bytes();
// Starts the peak anew from what is resident now, where the system lets us.
void reset_peak_resident();

class ResourceWatch {
 public:
  // The watching thread may run on any of the cpus, not only where its maker is pinned; none: as its maker.
  explicit ResourceWatch(const base::fs::path& path, double period_seconds = 1.0, std::vector<int> cpus = {});
  ~ResourceWatch();

 private:
  void watch(double period_seconds);

  base::LineWriter writer_;
  std::vector<int> cpus_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trireme::observe
