// Lines of resources.jsonl, made from two samples of the same process or host. Pure functions.
#pragma once

#include <string>

#include "observe/events.h"
#include "observe/host_resources.h"
#include "observe/process_resources.h"

namespace trireme::observe {

// The first fields of a line.
struct LineHead {
  std::string host;
  int rank = 0;
  double unix_seconds = 0;    // the time of the later sample
  double seconds = 0;         // since recording began
  double period_seconds = 1;  // between the samples
};

// The cores on which a process may run, as in 0-3,8, and how many of them at the same time; 0: all.
struct UsableCores {
  std::string cpus;
  int limit = 0;
};

ResourcesUsed process_line(const LineHead& head, const UsableCores& usable, const ProcessSample& before,
                           const ProcessSample& now, const NetworkBytes& network_before, const NetworkBytes& network);
ResourcesUsed host_line(const LineHead& head, const HostSample& before, const HostSample& now);

// The cores of a host of more than this many are left out of its lines: a message of the mailbox that is sent at once
// has at most 16 KiB.
inline constexpr std::size_t kMostCoresShown = 512;

}  // namespace trireme::observe
