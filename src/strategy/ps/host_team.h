// HostTeam: workers of one host that add up what they computed before one of them, the leader, talks to the servers:
// the first of two levels. What the leader has then are the sums of the largest whole subtrees of the team's oars, so
// the bits are those of the tree. While an interval lasts, collectives in the background are among the team.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <vector>

#include "comm/collective/exact_all_reduce.h"
#include "strategy/common/sync_step.h"
#include "strategy/common/worker_groups.h"

namespace trireme::strategy {

// Workers that follow each other and share a host.
WorkerGroups teams_by_host(const std::vector<std::string>& hosts_of_workers);

class HostTeam {
 public:
  HostTeam(const WorkerContext& worker, const SyncStep& step, const WorkerGroups& teams);

  bool leads() const { return member_ == 0; }
  void begin();  // an interval
  void end();    // called by all workers

  // What follows is of this step.
  void set(const Work& work);
  // So many sums the leader has in the end, in its first partials.
  std::int32_t sums() const { return worker_.exact ? static_cast<std::int32_t>(plans_.size()) : 1; }
  // Of the oars of each team.
  const std::vector<std::int64_t>& ends() const { return ends_; }

  // In the background, in the same order on all members: the partials of a bucket are added; then `then` is called.
  comm::PendingCollective add_up(std::size_t bucket, std::function<void()> then) const;
  // The leader's floats to all.
  comm::PendingCollective share(std::span<float> floats) const;

 private:
  WorkerContext worker_;
  const SyncStep& step_;
  WorkerGroups teams_;
  std::size_t team_ = 0;
  int member_ = 0;
  std::vector<comm::ExactPlan> plans_;  // of each sum
  std::vector<std::int64_t> ends_;
};

}  // namespace trireme::strategy
