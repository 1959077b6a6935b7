// The usual form of allreduce; of its files only.
#pragma once

#include <memory>

#include "strategy/strategy.h"

namespace trireme::strategy {

// See owned_all_reduce.cpp; for exact sums, and a worker whose updater takes any part of a gradient. Weights and
// gradients lie in the group's memory, or neither does: whoever has no sums to add must know how the others add theirs.
std::unique_ptr<Strategy> make_owned_all_reduce(const Worker& worker, const AllReduceOptions& options);

}  // namespace trireme::strategy
