// All-reduces of memory that all ranks of a subgroup reach: each rank combines its slice of all ranks' arrays and
// writes the result into all of them. Nothing is sent but the word where a rank's arrays lie, and that it is done;
// ranks that are all of their host leave it at a barrier.
#pragma once

#include <span>
#include <vector>

#include "comm/collective/exact_all_reduce.h"
#include "comm/collective/subgroup.h"
#include "comm/transport/shared_memory/shared_window.h"

namespace trireme::comm {

// In the order of ranks. `data` lies in a window, on all ranks.
void window_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, std::span<float> data,
                       Combine how);

// Along the oar tree; see exact_all_reduce.h. All partials and the result lie in windows, on all ranks.
void window_exact_all_reduce(Subgroup& subgroup, const Operation& operation, const WindowSet& windows,
                             const ExactPlan& plan, std::span<const std::span<float>> partials, std::span<float> result,
                             const UseSum& use);

// The same, where what use() makes of a sum is in one place for all ranks already: they only wait until it is there.
void window_exact_use(Subgroup& subgroup, const Operation& operation, const WindowSet& windows, const ExactPlan& plan,
                      std::span<const std::span<float>> partials, std::int64_t length, const UseSum& use);

}  // namespace trireme::comm
