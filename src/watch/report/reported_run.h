// ReportedRun: a run with everything that a report says about it, and how a report writes numbers.
// Values and pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "watch/records/resource_usage.h"
#include "watch/records/run_details.h"
#include "watch/records/run_record.h"

namespace trireme::watch {

struct ReportedRun {
  RunRecord run;
  RunFolderDetails details;
  ResourceUsage resources;
  std::string label;  // different for each run of a report
};

std::vector<ReportedRun> reported_runs(const std::vector<RunRecord>& runs);

// A dash for numbers that are unknown.
std::string share_cell(double share);                     // "91.20 %"
std::string seconds_cell(double seconds);                 // "1234.5", in seconds
std::string number_cell(double value, const char* form);  // of fmt, as "{:.4f}"
std::string bytes_cell(double bytes);                     // "12.3 MB"

// The sections of a report; empty where the runs have nothing for them.
std::string overview_section(const std::vector<ReportedRun>& runs);
std::string curves_section(const std::vector<ReportedRun>& runs);
std::string time_section(const std::vector<ReportedRun>& runs);
std::string scaling_section(const std::vector<ReportedRun>& runs);
std::string resources_section(const std::vector<ReportedRun>& runs);
std::string differences_section(const std::vector<ReportedRun>& runs);
std::string run_section(const ReportedRun& run);

}  // namespace trireme::watch
