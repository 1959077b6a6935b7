// What one member or thread of a crew measured of itself, and the sum over all of them.
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

// What the parts of a step that are no ops cost, all steps together.
struct StepCosts {
  ops::Cost input, sums, update, statistics, forms;
};

// program_of(samples) gives the Program of an oar size. Rows in the order of the tasks, then what is no op.
observe::Profile add_up(std::span<const MemberProfile* const> members, int threads, const StepCosts& costs,
                        double wall_seconds, base::FunctionRef<const graph::Program&(std::int64_t samples)> program_of);

}  // namespace trireme::crew
