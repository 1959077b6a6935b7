// HostSampler: what the whole host has used so far, from /proc and /sys. One thread at a time.
//
// Every source is optional: containers hide some, and not every machine tells frequencies and temperatures.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "observe/kernel_file.h"
#include "observe/network_counters.h"

namespace trireme::observe {

// Seconds since the host was started.
struct CoreSeconds {
  double user = 0, system = 0, iowait = 0, steal = 0, idle = 0;
  double total() const { return user + system + iowait + steal + idle; }
};

// kNotTold where the system does not tell.
struct HostSample {
  struct Core {
    int number = 0;
    CoreSeconds seconds;
  };
  CoreSeconds all;          // of all cores
  std::vector<Core> cores;  // that are online, by number; empty if unknown
  std::vector<double> mhz;  // of each of them; empty if unknown or not looked at
  double running = kNotTold, load = kNotTold, context_switches = kNotTold;
  double memory_total_bytes = kNotTold, memory_used_bytes = kNotTold, memory_cache_bytes = kNotTold,
         memory_shared_bytes = kNotTold, swap_used_bytes = kNotTold;
  NetworkBytes network;
  double tcp_retransmits = kNotTold;
  double disk_read_bytes = kNotTold, disk_written_bytes = kNotTold;
  std::map<std::string, double, std::less<>> disk_busy_seconds;  // by disk
  double temperature_celsius = kNotTold;
};

class HostSampler {
 public:
  // `root`: where proc and sys are.
  explicit HostSampler(base::fs::path root = "/");
  // Frequencies and temperatures may cost an interrupt on every core, so not every sample needs them.
  HostSample sample(bool with_sensors);

 private:
  void read_cores(HostSample& sample);
  void read_memory(HostSample& sample);
  void read_disks(HostSample& sample);
  void read_frequencies(HostSample& sample);
  bool is_disk(std::string_view device);
  void find_thermometers();

  base::fs::path root_;
  KernelFile stat_, load_, memory_, snmp_, disks_, cpuinfo_;
  NetworkCounters network_;
  std::map<int, KernelFile> frequencies_;  // by core
  std::vector<KernelFile> thermometers_;
  std::map<std::string, bool, std::less<>> is_disk_;  // by device
};

}  // namespace trireme::observe
