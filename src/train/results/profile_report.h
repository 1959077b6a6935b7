// Profile report: a profile as text (a table by kind of op, and the slowest layers) and as JSON.
// Thread-safe.
//
// Each row has its fraction of the roofline: the least time that the machine's measured peaks allow for the row's
// operations and bytes, divided by the measured time. More than 100 % means that data stayed in a cache, or that the
// kernel needs fewer operations than the plain algorithm whose operations are counted (Winograd).
#pragma once

#include <string>
#include <vector>

#include "base/cpu/machine_peaks.h"
#include "observe/profile.h"

namespace trireme::train {

// The lines of the text. Milliseconds are parts of the step's wall time; rates are per thread.
std::vector<std::string> profile_lines(const observe::Profile& profile, const base::Peak& peak,
                                       std::size_t layers = 15);

// One JSON object; see docs/run_folder.md.
std::string profile_json(const observe::Profile& profile, const base::Peak& peak);

}  // namespace trireme::train
