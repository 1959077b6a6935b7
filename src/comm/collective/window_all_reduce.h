// All-reduces in shared windows: each rank combines its slice of all ranks' arrays and writes it into all of them.
// One caller per rank at a time.
// Ranks only tell each other where their arrays lie and when they are done: through a host barrier if the subgroup is
// the whole group and it shares a host, otherwise in messages.
#pragma once

#include <span>
#include <vector>

#include "comm/collective/exact_all_reduce.h"
#include "comm/collective/subgroup.h"
#include "comm/transport/shared_memory/shared_window.h"

namespace trireme::comm {

// Combines in the order of ranks. REQUIRES: `data` lies in a window on all ranks.
void window_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, std::span<float> data,
                       Combine how);

// Adds along the oar tree; see exact_all_reduce.h. REQUIRES: all partials and the result lie in windows on all ranks.
void window_exact_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows,
                             const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result,
                             const UseSum& use);

// The same if use() writes its output to one place shared by all ranks: they only wait until it is complete.
void window_exact_use(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::int64_t length, const UseSum& use);

}  // namespace trireme::comm
