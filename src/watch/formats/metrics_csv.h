// Writes the metrics of runs as one table: a row per step, and per set of data that an epoch's end tells of. Pure but
// for reading run folders; thread-safe.
#pragma once

#include <iosfwd>
#include <string>
#include <vector>

#include "watch/records/run_record.h"

namespace trireme::watch {

// The names of the columns, see docs/watching.md. A value that a row does not have is an empty cell.
std::string metrics_csv_head();
// The rows of a run, in the order of metrics.jsonl.
void write_metrics_csv(const RunRecord& run, std::ostream& to);
// A whole file; one that exists already, or cannot be written, is an error.
void write_metrics_csv(const std::vector<RunRecord>& runs, const std::string& file);

}  // namespace trireme::watch
