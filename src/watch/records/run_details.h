// RunDetails: everything that a run folder tells beside its RunRecord: where the time went, workers, machines, events.
// A value; read_details() is thread-safe.
//
// Sums are over the whole run, across resumes, as far as its files have them. Damaged lines are left out and counted.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "observe/step_phases.h"
#include "watch/records/run_record.h"

namespace trireme::watch {

struct WorkerDetail {
  std::string host;
  observe::StepSeconds seconds{};  // sums over its steps or pushes
  std::int64_t steps = 0;
  double caused_seconds = 0;                  // that the others waited for it
  double sent_bytes = 0, received_bytes = 0;  // NaN if unknown
  std::int64_t oars = -1;                     // of each batch at the end; -1 where shares are handed out or unknown
};

// What happened at a step: a switch, a lost worker, a resume.
struct RunIncident {
  std::int64_t step = 0;
  double time = 0;  // Unix seconds; NaN if unknown
  std::string kind, text;
};

struct ConfusionRecord {
  std::int64_t step = 0;
  bool is_validation = false;
  std::vector<std::string> classes;
  std::vector<std::vector<std::int64_t>> counts;  // a row per true class
};

struct ProcessDetail {
  std::string name, host;
  std::int64_t threads = 0;
};

struct RunStartDetail {
  std::string date, host, command;
  std::int64_t step = 0;
};

struct RunFolderDetails {
  observe::StepSeconds seconds{};                         // sums over all steps of means over the workers
  std::int64_t steps = 0;                                 // that were read
  double stepping_seconds = 0;                            // wall time of these steps; NaN if unknown
  double evaluation_seconds = 0, checkpoint_seconds = 0;  // NaN if unknown
  std::int64_t checkpoints = 0;
  std::vector<WorkerDetail> workers;
  std::vector<std::pair<std::string, WorkerDetail>> lost_workers;  // "worker 2 on node7", when it was lost
  bool workers_since_last_start = false;  // the numbers of the workers are only of the last start of several
  std::vector<RunIncident> incidents;     // in the order of the file
  std::map<std::int64_t, std::int64_t> staleness;
  std::optional<ConfusionRecord> confusion;  // the last
  std::string lateness;
  std::int64_t damaged_lines = 0;

  std::vector<ProcessDetail> processes;
  std::vector<RunStartDetail> starts;
  std::map<std::string, std::string> machine;   // of the first process: "cpu", "cores", "system", ...
  std::map<std::string, std::string> resolved;  // "batch", "oars", ...
};

RunFolderDetails read_details(const RunRecord& run);

// Samples per second of the whole run's steps; NaN if unknown.
double overall_speed(const RunRecord& run, const RunFolderDetails& details);

}  // namespace trireme::watch
