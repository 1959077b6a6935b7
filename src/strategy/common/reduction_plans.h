// ReductionPlans: a cache of reduction plans: which worker sends which partials of a step, and how they are added.
// One caller at a time. A returned plan stays valid as long as this object.
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
