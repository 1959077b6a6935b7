// Resources: what this process uses, sampled in the background once per period: CPU user and system share (1 = one
// core), resident memory, bytes over the host's network interfaces. A sample is a line of JSON that names its host and
// rank; it goes into resources.jsonl, or wherever a sink takes it.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <string>
#include <string_view>
#include <thread>
#include <utility>
#include <vector>

#include "base/system/files.h"

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

std::string host_name();

// Whose samples they are.
struct Watched {
  std::string host = host_name();
  int rank = 0;
};

// Takes a line of JSON, without its end. When it throws, the run goes on with a warning and no further samples.
using LineSink = std::function<void(std::string_view line)>;
LineSink append_to(const base::fs::path& path);  // a file that cannot be opened is a run error

class ResourceWatch {
 public:
  // The sink is called in the watching thread, for the last time while the watch goes. That thread may run on any of
  // the cpus, not only where its maker is pinned; none: as its maker.
  explicit ResourceWatch(LineSink sink, double period_seconds = 1.0, std::vector<int> cpus = {}, Watched watched = {});
  explicit ResourceWatch(const base::fs::path& path, double period_seconds = 1.0, std::vector<int> cpus = {},
                         Watched watched = {})
      : ResourceWatch(append_to(path), period_seconds, std::move(cpus), std::move(watched)) {}
  ~ResourceWatch();

 private:
  void watch(double period_seconds);
  bool wait(double seconds);  // false when it is to stop

  LineSink sink_;
  std::vector<int> cpus_;
  std::string whose_;  // the first fields of every line
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trireme::observe
