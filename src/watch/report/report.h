// Report: runs as one self-contained HTML page, made to be printed: results, curves, time, speed-up, resources, and a
// section per run. Thread-safe; reads run folders, whatever state they are in.
#pragma once

#include <string>
#include <vector>

#include "watch/records/run_record.h"

namespace trireme::watch {

// `title`: empty for one that names the runs.
std::string report_of(const std::vector<RunRecord>& runs, const std::string& title = "");

}  // namespace trireme::watch
