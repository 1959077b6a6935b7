#include "strategy/groups/groups.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <map>
#include <optional>
#include <tuple>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "strategy/common/sync_step.h"
#include "strategy/server/server_connections.h"

namespace trireme::strategy {
namespace {

using base::at;

constexpr PsOptions kAtOnce{.synchronous = false};

// What the members of a group send each other about a push.
struct GroupStepReport {
  double loss = 0, correct = 0;
  StepSeconds seconds;
  std::int64_t arrived_ns = 0;
};

std::vector<int> group_of(const WorkerGroups& groups, int worker) {
  const auto own =
      std::ranges::find_if(groups, [&](const auto& group) { return std::ranges::find(group, worker) != group.end(); });
  base::check(own != groups.end(), "worker {} is in no group", worker);
  return *own;
}

class Groups : public Strategy {
 public:
  Groups(const WorkerContext& worker, const WorkerGroups& groups)
      : worker_(worker),
        step_(worker, buckets_for_servers(worker, 0, group_of(groups, worker.worker)), worker.gradients) {
    for (const std::vector<int>& group : groups) leaders_.push_back(worker.roles.process_of_worker(group.front()));
    const std::vector<int> own = group_of(groups, worker.worker);
    member_ = static_cast<int>(std::ranges::find(own, worker.worker) - own.begin());
    for (const int each : own) members_.push_back(worker.roles.process_of_worker(each));
    if (leads()) connections_.emplace(worker, step_, kAtOnce, worker.replica.oars(), worker.exact);
    notes_.resize(members_.size());
  }

  // Background collectives use this object, so they must end first.
  ~Groups() override { wait_for_all(); }

  StepReport step(const Work& work) override {
    if (!has_begun_) begin();
    worker_.updater.give_up_state();
    StepReport report;
    for (std::int64_t oar = work.mean_over.begin; oar < work.mean_over.end; ++oar)
      report.samples += base::oar_samples(static_cast<int>(oar), worker_.replica.oars(), work.batch.samples).size();
    std::ranges::fill(notes_, GroupStepReport{});
    if (report.samples == 0) {
      report.seconds = seconds_of(work, {});
      tell_notes(report);
      return report;
    }
    if (leads()) {
      report.penalty = worker_.updater.penalty_now();
      connections_->set({.partials = 1, .samples = report.samples, .step = work.step, .lr = work.lr});
    }
    wait_for_all();
    busy_ns_.store(0, std::memory_order_relaxed);
    const comm::ExactPlan& plan = plan_of(work);
    const crew::ComputeReport computed = step_.compute(work, {work.oars, false, work.mean_over},
                                                       [&](std::size_t bucket) { add_and_push(bucket, plan); });
    note_ = {computed.loss, computed.correct, seconds_so_far(work, computed, before_), base::now_ns()};
    pending_.push_back(worker_.group.start([this](comm::Collectives& group) {
      group.all_gather(std::as_bytes(std::span(&note_, 1)), std::as_writable_bytes(std::span(notes_)));
    }));
    const std::int64_t begin_ns = base::now_ns();
    waited_seconds_ = 0;
    clip_and_push(work);
    take_weights();
    wait([&] { pending_.back().wait(); });
    report.seconds = note_.seconds;
    report.seconds.update = computed.update_seconds + base::seconds_since(begin_ns) - waited_seconds_;
    report.seconds.network = waited_seconds_;
    report.seconds.hidden = std::max(0.0, 1e-9 * static_cast<double>(busy_ns_.load()) +
                                              (leads() ? connections_->take_busy_seconds() : 0) - waited_seconds_);
    before_ = report.seconds;
    for (const GroupStepReport& note : notes_) {
      report.loss += note.loss;
      report.correct += note.correct;
    }
    tell_notes(report);
    return report;
  }

  void end_interval() override {
    if (!has_begun_) begin();
    wait_for_all();
    std::uint32_t next = worker_.group.sequence();
    if (leads()) {
      // After all groups have pushed, every leader pulls the same weights. Until among() below, this group runs one
      // collective per bucket and one more; the sequence number of all workers must be beyond those of every group.
      next = meet(next + static_cast<std::uint32_t>(step_.buckets().size()) + 1);
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) connections_->pull(b);
    }
    take_weights();
    worker_.group.broadcast(std::as_writable_bytes(std::span(&next, 1)), 0);
    if (leads()) connections_->end();
    worker_.group.among(worker_.roles.worker_processes(), next);
    has_begun_ = false;
  }

 private:
  bool leads() const { return member_ == 0; }
  bool is_alone() const { return members_.size() == 1; }

  // All workers have made the same collectives so far, so their sequence numbers are equal.
  void begin() {
    worker_.group.among(members_, worker_.group.sequence());
    if (leads()) connections_->begin();
    has_begun_ = true;
  }

  // A barrier of the leaders. Returns the largest number that any leader passed.
  std::uint32_t meet(std::uint32_t number) {
    static const std::atomic<bool> kNoStop{false};  // only the group's alarm ends the wait early
    comm::Mailbox& mailbox = worker_.group.mailbox();
    if (mailbox.rank() != leaders_[0]) {
      send_one(mailbox, leaders_[0], kMeetTag, number);
      return receive_one<std::uint32_t>(mailbox, leaders_[0], kMetTag, kNoStop);
    }
    for (std::size_t g = 1; g < leaders_.size(); ++g)
      number = std::max(number, receive_one<std::uint32_t>(mailbox, leaders_[g], kMeetTag, kNoStop));
    for (std::size_t g = 1; g < leaders_.size(); ++g) send_one(mailbox, leaders_[g], kMetTag, number);
    return number;
  }

  // The plan by which the members' partials of a share are added: along a tree over the share's own oars.
  const comm::ExactPlan& plan_of(const Work& work) {
    const base::Range share = work.mean_over;
    const std::tuple key{work.batch.samples, share.begin, share.end};
    if (const auto found = plans_.find(key); found != plans_.end()) return found->second;
    comm::OarShares held{static_cast<int>(share.size()), {}, {}};
    const auto members = static_cast<int>(members_.size());
    for (int m = 0; m < members; ++m) {
      const base::Range oars = oars_of_member(share, m, members);
      held.held.push_back({oars.begin - share.begin, oars.end - share.begin});
    }
    for (std::int64_t oar = share.begin; oar < share.end; ++oar)
      held.is_empty.push_back(
          base::oar_samples(static_cast<int>(oar), worker_.replica.oars(), work.batch.samples).empty());
    return plans_.emplace(key, comm::ExactPlan(held)).first->second;
  }

  // Called in the same order on all members; see BucketCount.
  void add_and_push(std::size_t bucket, const comm::ExactPlan& plan) {
    const bool pushes = leads() && !worker_.updater.clips();
    if (is_alone()) {
      if (pushes) connections_->push(bucket);
      return;
    }
    pending_.push_back(worker_.group.start([this, bucket, pushes, &plan](comm::Collectives& group) {
      const std::int64_t start_ns = base::now_ns();
      step_.add_up(group, bucket, plan);
      busy_ns_.fetch_add(base::now_ns() - start_ns, std::memory_order_relaxed);
      if (pushes) connections_->push(bucket);
    }));
  }

  // Waits for the sums. With clipping, the leader computes the factor from the group's gradient and sends it with each
  // push.
  void clip_and_push(const Work& work) {
    wait([&] {
      for (std::size_t i = 0; i + 1 < pending_.size(); ++i) pending_[i].wait();
    });
    if (!leads() || !worker_.updater.clips()) return;
    optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    worker_.updater.clip(step_.partial(0).data(), scalars);
    connections_->set_clip(scalars.clip);
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) connections_->push(b);
  }

  // Broadcasts the weights that come back from the servers to the members, bucket by bucket.
  void take_weights() {
    wait([&] {
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
        if (leads()) connections_->wait(b);
        const base::Range floats = step_.buckets()[b].floats;
        const std::span<float> weights(worker_.replica.weights() + floats.begin, at(floats.size()));
        if (!is_alone()) worker_.group.broadcast(std::as_writable_bytes(weights), 0);
      }
    });
    worker_.replica.refresh_weight_forms();
  }

  void tell_notes(StepReport& report) const {
    for (const GroupStepReport& note : notes_) report.notes.push_back({note.seconds, note.arrived_ns, false});
    report.notes[at(member_)].seconds = report.seconds;
  }

  template <class F>
  void wait(const F& f) {
    const std::int64_t start_ns = base::now_ns();
    f();
    waited_seconds_ += base::seconds_since(start_ns);
  }

  void wait_for_all() noexcept {
    for (comm::PendingCollective& each : pending_) try {
        each.wait();
      } catch (...) {  // the failure was reported already
      }
    pending_.clear();
  }

  WorkerContext worker_;
  std::vector<int> members_, leaders_;  // processes of this group's members, and of all groups' leaders
  int member_ = 0;
  SyncStep step_;
  bool has_begun_ = false;
  std::map<std::tuple<std::int64_t, std::int64_t, std::int64_t>, comm::ExactPlan> plans_;  // by samples and share
  std::vector<comm::PendingCollective> pending_;  // one per bucket, if the group has several members; then the notes
  std::atomic<std::int64_t> busy_ns_{0};
  GroupStepReport note_;
  std::vector<GroupStepReport> notes_;
  double waited_seconds_ = 0;
  StepSeconds before_;
  std::optional<ServerConnections> connections_;  // only in the leader; last: its threads use the other members
};

class GroupsConfig : public StrategyConfig {
 public:
  explicit GroupsConfig(ShareRules shares)
      : StrategyConfig({.is_synchronous = false,
                        .needs_servers = true,
                        .state_owner = StateOwner::servers,
                        .outlives_workers = true},
                       std::move(shares)) {}

  std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const override {
    return make_groups(worker, shares().groups);
  }
  std::unique_ptr<ServerSide> make_server_side(Server& server) const override {
    return server.serve({.synchronous = false, .workers = leaders_of(shares().groups)});
  }
};

StrategyConfigPtr configure_groups(base::Spec& spec, const WorkerSet& given) {
  const bool by_count = !spec.word("count", "").empty();
  const std::int64_t count = spec.integer("count", 1);
  const std::string by = spec.word("by", by_count ? "" : "host");
  if (!by.empty() && by != "host") base::user_error("--strategy: by is '{}', expected host, or count=2 instead", by);
  if (by_count && !by.empty()) base::user_error("--strategy: groups takes count or by=host, not both");
  const bool too_many = given.workers > 0 && count > given.workers;
  if (count < 1 || too_many)
    base::user_error("--strategy: count is {} groups, expected at least 1 and at most one for each of the {} workers",
                     count, std::max(given.workers, 1));
  const int workers = given.workers > 0 ? given.workers : static_cast<int>(count);
  const bool is_bounded = spec.word("staleness", "none") != "none";
  ShareRules shares = read_share_rules(spec, is_bounded ? Staleness::bounded : Staleness::any);
  shares.groups = by_count              ? groups_by_count(workers, static_cast<int>(count))
                  : given.hosts.empty() ? groups_by_count(workers, 1)
                                        : groups_by_host(given.hosts);
  return std::make_shared<GroupsConfig>(std::move(shares));
}

}  // namespace

StrategyRow groups_row() {
  return {"groups",
          "synchronous inside a group, asynchronous between groups: a group pushes to the servers as one worker does",
          {{"count", "2", "the number of groups, of about equal size"},
           {"by", "host", "instead of count: the workers of a host are a group; the default"},
           {"staleness", "none", "pushes that a group may be ahead of the slowest"},
           {"lr-scale", "auto", "factor of the learning rate of a push; auto: 1 / shares of a batch"}},
          configure_groups};
}

std::unique_ptr<Strategy> make_groups(const WorkerContext& worker, const WorkerGroups& groups) {
  return std::make_unique<Groups>(worker, groups);
}

}  // namespace trireme::strategy
