// What the two forms of allreduce share; of their files only.
#pragma once

#include <memory>
#include <vector>

#include "strategy/strategy.h"

namespace trireme::strategy {

// See owned_all_reduce.cpp; for a worker whose updater takes any part of a gradient.
std::unique_ptr<Strategy> make_owned_all_reduce(const Worker& worker, const AllReduceOptions& options);

// Memory for gradients outside of the group's, or none where that will do.
std::vector<float> own_gradients(const Worker& worker, const AllReduceOptions& options);

}  // namespace trireme::strategy
