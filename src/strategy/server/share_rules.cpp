#include "strategy/server/share_rules.h"

#include <algorithm>

#include "base/error.h"

namespace trireme::strategy {
namespace {

constexpr std::int64_t kMostStaleness = 1'000'000;

std::int64_t read_bound(base::Spec& spec, const char* key, std::int64_t otherwise) {
  const std::int64_t value = spec.integer(key, otherwise);
  if (value < 0 || value > kMostStaleness)
    base::user_error("--strategy: {} is {}, expected 0 to {}", key, value, kMostStaleness);
  return value;
}

}  // namespace

int ShareRules::pusher_of(int worker) const {
  const auto has = [&](const std::vector<int>& group) { return std::ranges::find(group, worker) != group.end(); };
  return groups.empty() ? worker : static_cast<int>(std::ranges::find_if(groups, has) - groups.begin());
}

ShareRules read_share_rules(base::Spec& spec, Staleness staleness) {
  ShareRules rules;
  if (staleness == Staleness::bounded) rules.bound.low = rules.bound.high = read_bound(spec, "staleness", 3);
  if (staleness == Staleness::dynamic) {
    rules.bound = {read_bound(spec, "low", 3), read_bound(spec, "high", 15)};
    if (rules.bound.high < rules.bound.low)
      base::user_error("--strategy: high is {}, expected at least low, which is {}", rules.bound.high, rules.bound.low);
  }
  const std::string scale = spec.word("lr-scale", "auto");
  if (scale == "auto") return rules;
  rules.lr_scale = base::parse_double("--strategy: lr-scale", scale);
  if (!(rules.lr_scale > 0)) base::user_error("--strategy: lr-scale is {}, expected more than 0", scale);
  return rules;
}

}  // namespace trireme::strategy
