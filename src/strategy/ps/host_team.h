// HostTeam: workers of one host that sum their gradients before one of them, the leader, talks to the servers.
// One caller at a time, except add_up(), which the crew's threads call in bucket order.
//
// This is the first of two levels of reduction. The leader ends up with the sums of the largest whole subtrees of the
// team's oars, so the bits are those of the oar tree. During an interval, background collectives include the team only.
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

// One team per run of consecutive workers on the same host.
WorkerGroups teams_by_host(const std::vector<std::string>& hosts_of_workers);

class HostTeam {
 public:
  HostTeam(const WorkerContext& worker, const SyncStep& step, const WorkerGroups& teams);

  bool leads() const { return member_ == 0; }
  void begin();  // an interval
  void end();    // a collective of all workers

  // Prepares the given step; the functions below refer to it.
  void set(const Work& work);
  // How many sums the leader ends up with, in its first partials.
  std::int32_t sums() const { return worker_.exact ? static_cast<std::int32_t>(plans_.size()) : 1; }
  // The end of each team's range of oars.
  const std::vector<std::int64_t>& ends() const { return ends_; }

  // Sums the partials of a bucket in the background, then calls `then` there. REQUIRES: all members start the buckets
  // in the same order.
  comm::PendingCollective add_up(std::size_t bucket, std::function<void()> then) const;
  // Broadcasts the leader's floats to the team.
  comm::PendingCollective share(std::span<float> floats) const;

 private:
  WorkerContext worker_;
  const SyncStep& step_;
  WorkerGroups teams_;
  std::size_t team_ = 0;
  int member_ = 0;
  std::vector<comm::ExactPlan> plans_;  // one per sum
  std::vector<std::int64_t> ends_;
};

}  // namespace trireme::strategy
