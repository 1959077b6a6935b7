// CriticalPath: what decided the time of a run's median step, and what would be gained without it.
// A value; the functions are pure.
//
// Single steps are disturbed in one phase or another, so a worker's times are means over the fifth of all steps that is
// nearest to the median.
// In a synchronous step all wait for the worker that is last with its own work: loading, forward, backward and update.
// That worker's times and its own waiting for the network, for which nobody else can be blamed, are the critical path.
// When a time were zero, the step would take as long as the worker that is then last. Asynchronous workers wait for
// nobody, so the path is that of the slowest worker's median step.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "watch/trace/recorded_trace.h"

namespace trireme::watch {

// A part of the path.
struct PathPart {
  std::string process;  // "worker 1 on here"
  std::string phase;    // "backward"
  double seconds = 0;
  double gained = 0;  // seconds per step if this part took no time
};

// The bucket for which the path waited longest.
struct PathBucket {
  std::int64_t bucket = -1;  // -1: none
  std::string detail;        // its parameters and how they were added
  double bytes = 0, seconds = 0;
  std::string waited_for;  // a process; empty if unknown
};

struct CriticalPath {
  std::int64_t step = 0;     // the median one
  std::int64_t steps = 0;    // among so many that the trace has whole
  std::int64_t mean_of = 1;  // the times are means over so many steps around it
  double seconds = 0;        // of the step
  bool is_synchronous = true;
  std::vector<PathPart> parts;  // in the order of the step
  PathBucket bucket;
  std::size_t decides = 0;    // the part that decides: the longest
  std::string slow_worker;    // one that computes much slower than the others; empty: none
  double slow_factor = 1;     // how much slower
  double slow_gained = 0;     // seconds per step if it were as fast as they are
  double clock_bound_us = 0;  // of the trace
};

// A trace without a complete step is a user error. `is_synchronous`: the run's strategies; nullopt: unknown, or
// several, so that the times of the steps tell.
CriticalPath critical_path_of(const RecordedTrace& trace, std::optional<bool> is_synchronous = std::nullopt);

std::vector<std::string> path_lines(const CriticalPath& path);
std::string path_json(const CriticalPath& path);

}  // namespace trireme::watch
