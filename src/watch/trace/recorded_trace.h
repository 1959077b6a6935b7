// RecordedTrace: the spans of a run's trace.json, by process and step.
// A value; the function is thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "base/system/files.h"

namespace trireme::watch {

struct RecordedSpan {
  std::string name, category;  // "backward", "phase"
  double start_us = 0, end_us = 0;
  std::int64_t bucket = -1, peer = -1;  // -1: none; peer: who was waited for, sent to or received from
  double bytes = 0;
  std::int64_t oars = 0;
  std::string detail;

  double seconds() const { return 1e-6 * (end_us - start_us); }
};

struct RecordedTrace {
  std::map<int, std::string> processes;  // name by number: "worker 1 on here"
  // By step and process. Steps that were computed again after a resume: the last time.
  std::map<std::int64_t, std::map<int, std::vector<RecordedSpan>>> steps;
  double clock_bound_us = 0;  // the largest that the trace tells of; NaN if one is unknown

  bool is_worker(int process) const;
  std::string name_of(int process) const;
};

// A file that is no trace is a user error. What a killed process left at its end is left out.
RecordedTrace read_trace(const base::fs::path& file);

}  // namespace trireme::watch
