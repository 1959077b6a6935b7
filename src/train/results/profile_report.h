// A profile for people (a table by kind of op, and the layers that take longest) and for programs (JSON), with how
// close each op comes to its roofline: the least time that the machine's measured peaks allow for its operations and
// bytes.
//
// Above 100 % means that data stayed in a cache, or that the kernel needs fewer operations than the plain algorithm
// whose operations are counted (Winograd).
#pragma once

#include <string>
#include <vector>

#include "base/cpu/machine_peaks.h"
#include "observe/profile.h"

namespace trireme::train {

// Lines; milliseconds are shares of the step's wall time, rates are those of one thread.
std::vector<std::string> profile_lines(const observe::Profile& profile, const base::Peak& peak,
                                       std::size_t layers = 15);

// One object; see docs/run_folder.md.
std::string profile_json(const observe::Profile& profile, const base::Peak& peak);

}  // namespace trireme::train
