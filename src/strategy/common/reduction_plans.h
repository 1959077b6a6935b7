// ReductionPlans: who sends which partials of a step and how they are added, made once for every way to share out a
// batch. One thread at a time; what it returns stays.
#pragma once

#include <cstdint>
#include <map>
#include <utility>
#include <vector>

#include "comm/collective/exact_all_reduce.h"

namespace trireme::strategy {

class ReductionPlans {
 public:
  // `shares` are the workers' oars, in order.
  const comm::ExactPlan& get(int oars, std::int64_t samples, const std::vector<base::Range>& shares);

 private:
  std::map<std::pair<std::int64_t, std::vector<std::int64_t>>, comm::ExactPlan> plans_;  // by samples, ends of shares
};

}  // namespace trireme::strategy
