// EarlierTrace: the events of a trace file that Trace::write() made, so that a later one contains them.
// Thread-safe.
#pragma once

#include <cstdint>
#include <set>
#include <string>

#include "base/system/files.h"

namespace trireme::observe {

struct EarlierTrace {
  std::string events;           // as in the file, an object per line, with commas between them
  std::set<std::string> names;  // those of them that name processes and lanes
  double end_us = 0;            // when the last span ends
  std::uint64_t left_out = 0;   // spans
};

// Empty if there is no such file, or if it is damaged or of another program: then nothing is lost but the trace.
EarlierTrace read_earlier_trace(const base::fs::path& path);

}  // namespace trireme::observe
