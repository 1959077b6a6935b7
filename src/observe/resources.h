// ResourceWatch: samples the resource usage of this process once per period and passes each sample to a sink.
// The sampling runs in a thread of its own; the functions here are safe from any thread.
// A sample is a line of JSON: host, rank, user and system CPU share (1 = one core), resident memory, bytes over the
// host's network interfaces. The usual sink is resources.jsonl.
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
  double network_received_bytes = 0, network_sent_bytes = 0;  // of the host, without loopback
};

ResourceSample sample_resources();
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
};

// Takes a line of JSON without the newline. If it throws, the run continues with a warning and without further samples.
using LineSink = std::function<void(std::string_view line)>;
LineSink append_to(const base::fs::path& path);  // a file that cannot be opened is a run error

class ResourceWatch {
 public:
  // The sampling thread calls the sink, for the last time during destruction. It may run on any of `cpus`, even if the
  // calling thread is pinned elsewhere; if `cpus` is empty, it inherits the caller's affinity.
  explicit ResourceWatch(LineSink sink, double period_seconds = 1.0, std::vector<int> cpus = {}, Watched watched = {});
  explicit ResourceWatch(const base::fs::path& path, double period_seconds = 1.0, std::vector<int> cpus = {},
                         Watched watched = {})
      : ResourceWatch(append_to(path), period_seconds, std::move(cpus), std::move(watched)) {}
  ~ResourceWatch();

 private:
  void watch(double period_seconds);
  bool wait(double seconds);  // false when the watch is to stop

  LineSink sink_;
  std::vector<int> cpus_;
  std::string whose_;  // the first fields of every line
  std::mutex mutex_;
  std::condition_variable wake_;
  bool stop_ = false;
  std::thread thread_;
};

}  // namespace trireme::observe
