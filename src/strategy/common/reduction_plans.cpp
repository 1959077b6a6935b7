#include "strategy/common/reduction_plans.h"

namespace trireme::strategy {

const comm::ExactPlan& ReductionPlans::get(int oars, std::int64_t samples, const std::vector<base::Range>& shares) {
  std::pair key{samples, std::vector<std::int64_t>{}};
  for (const base::Range& share : shares) key.second.push_back(share.end);
  const auto found = plans_.find(key);
  if (found != plans_.end()) return found->second;
  comm::OarShares held{oars, shares, {}};
  for (int oar = 0; oar < oars; ++oar) held.is_empty.push_back(base::oar_samples(oar, oars, samples).empty());
  return plans_.emplace(std::move(key), comm::ExactPlan(held)).first->second;
}

}  // namespace trireme::strategy
