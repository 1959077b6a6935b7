#include "strategy/common/worker_groups.h"

#include <algorithm>

namespace trireme::strategy {

WorkerGroups groups_by_count(int workers, int count) {
  WorkerGroups groups;
  for (int g = 0; g < count; ++g) {
    groups.emplace_back();
    const base::Range range = base::oars_of_worker(g, count, workers);
    for (std::int64_t w = range.begin; w < range.end; ++w) groups.back().push_back(static_cast<int>(w));
  }
  return groups;
}

WorkerGroups groups_by_host(const std::vector<std::string>& hosts) {
  WorkerGroups groups;
  for (std::size_t w = 0; w < hosts.size(); ++w) {
    const auto same = std::ranges::find_if(
        groups, [&](const auto& group) { return hosts[static_cast<std::size_t>(group[0])] == hosts[w]; });
    if (same == groups.end())
      groups.push_back({static_cast<int>(w)});
    else
      same->push_back(static_cast<int>(w));
  }
  return groups;
}

base::Range oars_of_member(base::Range share, int member, int members) {
  const base::Range part = base::oars_of_worker(member, members, static_cast<int>(share.size()));
  return {share.begin + part.begin, share.begin + part.end};
}

std::vector<int> leaders_of(const WorkerGroups& groups) {
  std::vector<int> leaders;
  for (const std::vector<int>& group : groups) leaders.push_back(group.front());
  return leaders;
}

}  // namespace trireme::strategy
