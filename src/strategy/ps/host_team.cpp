#include "strategy/ps/host_team.h"

#include <algorithm>

#include "base/error.h"
#include "base/index.h"

namespace trireme::strategy {
namespace {
using base::at;

base::Range common(base::Range a, base::Range b) {
  const std::int64_t begin = std::clamp(a.begin, b.begin, b.end);
  return {begin, std::clamp(a.end, begin, b.end)};
}
}  // namespace

WorkerGroups teams_by_host(const std::vector<std::string>& hosts_of_workers) {
  WorkerGroups teams;
  for (std::size_t w = 0; w < hosts_of_workers.size(); ++w) {
    if (w == 0 || hosts_of_workers[w] != hosts_of_workers[w - 1]) teams.emplace_back();
    teams.back().push_back(static_cast<int>(w));
  }
  return teams;
}

HostTeam::HostTeam(const WorkerContext& worker, const SyncStep& step, const WorkerGroups& teams)
    : worker_(worker), step_(step), teams_(teams) {
  for (std::size_t t = 0; t < teams.size(); ++t)
    if (const auto own = std::ranges::find(teams[t], worker.worker); own != teams[t].end()) {
      team_ = t;
      member_ = static_cast<int>(own - teams[t].begin());
    }
  base::check(teams[team_][at(member_)] == worker.worker, "worker {} is in no team", worker.worker);
}

// All workers have made the same collectives so far, so their sequence numbers are equal.
void HostTeam::begin() {
  std::vector<int> members;
  for (const int worker : teams_[team_]) members.push_back(worker_.roles.process_of_worker(worker));
  worker_.group.among_in_background(members, worker_.group.sequence());
}

void HostTeam::end() {
  const std::uint32_t own = worker_.group.sequence();
  std::vector<std::uint32_t> all(at(worker_.roles.workers));
  worker_.group.all_gather(std::as_bytes(std::span(&own, 1)), std::as_writable_bytes(std::span(all)));
  worker_.group.among_in_background(worker_.roles.worker_processes(), *std::ranges::max_element(all) + 1);
}

void HostTeam::set(const Work& work) {
  const int oars = worker_.replica.oars();
  const std::vector<base::Range> shares = worker_.assignment.shares(work.step);
  const auto oars_of = [&](const std::vector<int>& team) {
    return base::Range{shares[at(team.front())].begin, shares[at(team.back())].end};
  };
  ends_.clear();
  for (const std::vector<int>& team : teams_) ends_.push_back(oars_of(team).end);
  plans_.clear();
  for (const base::Range& part : base::oar_partials(oars, oars_of(teams_[team_]))) {
    comm::OarShares held{static_cast<int>(part.size()), {}, {}};
    for (const int worker : teams_[team_]) {
      const base::Range own = common(shares[at(worker)], part);
      held.held.push_back({own.begin - part.begin, own.end - part.begin});
    }
    for (std::int64_t oar = part.begin; oar < part.end; ++oar)
      held.is_empty.push_back(base::oar_samples(static_cast<int>(oar), oars, work.batch.samples).empty());
    if (std::ranges::find(held.is_empty, false) != held.is_empty.end()) plans_.emplace_back(held);
  }
}

// The leader holds the team's first oars. So when sum k is made, its place, the leader's partial k, either is part of
// this sum, was used by an earlier sum, or does not exist: it is free to take the result. The other members have no
// free partial; they use the spare one at the end of their memory.
comm::PendingCollective HostTeam::add_up(std::size_t bucket, std::function<void()> then) const {
  return worker_.group.start([this, bucket, then = std::move(then)](comm::Collectives& group) {
    const base::Range floats = step_.buckets()[bucket].floats;
    if (worker_.exact) {
      const std::size_t spare = worker_.gradients.size() / at(worker_.replica.space().floats()) - 1;
      std::size_t next = 0;
      for (std::size_t k = 0; k < plans_.size(); ++k) {
        std::vector<std::span<float>> partials;
        for (std::int64_t p = 0; p < plans_[k].of_rank(member_).size(); ++p)
          partials.push_back(step_.partial(next++, floats));
        group.exact_all_reduce(plans_[k], partials, step_.partial(leads() ? k : spare, floats));
      }
    } else {
      group.all_reduce(step_.partial(0, floats), comm::Reduction::sum);
    }
    then();
  });
}

comm::PendingCollective HostTeam::share(std::span<float> floats) const {
  return worker_.group.start(
      [floats](comm::Collectives& group) { group.broadcast(std::as_writable_bytes(floats), 0); });
}

}  // namespace trireme::strategy
