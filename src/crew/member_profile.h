// MemberProfile: the times that one member or thread of a crew has measured; add_up() makes the profile of the crew.
// One caller at a time.
#pragma once

#include <map>
#include <span>
#include <vector>

#include "base/function_ref.h"
#include "graph/program.h"
#include "observe/profile.h"

namespace trireme::crew {

struct MemberProfile {
  std::map<std::int64_t, observe::TaskTimes> tasks;  // by oar size
  observe::TaskTime input, oar_sums, member_sums, update, statistics, forms;

  void clear();
};

// The cost of the parts of a step that are not ops, summed over all steps.
struct StepCosts {
  ops::Cost input, sums, update, statistics, forms;
};

// program_of(samples) returns the Program of an oar size. The rows come in the order of the tasks; the parts that are
// not ops and the waiting time follow.
observe::Profile add_up(std::span<const MemberProfile* const> members, int threads, const StepCosts& costs,
                        double wall_seconds, base::FunctionRef<const graph::Program&(std::int64_t samples)> program_of);

}  // namespace trireme::crew
