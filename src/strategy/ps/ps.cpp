#include "strategy/ps/ps.h"

#include <algorithm>
#include <cstring>
#include <optional>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "base/text/nearest.h"
#include "strategy/common/sync_step.h"
#include "strategy/ps/host_team.h"
#include "strategy/server/hand_over.h"
#include "strategy/server/server_connections.h"

namespace trireme::strategy {
namespace {

using base::at;

class Ps : public Strategy {
 public:
  Ps(const WorkerContext& worker, const PsOptions& options)
      : worker_(worker),
        options_(options),
        step_(worker, buckets_for_servers(worker, options.bucket_bytes), worker.gradients),
        all_notes_(step_.note_size() * at(worker.roles.workers)) {
    if (!options.teams.empty()) team_.emplace(worker, step_, options.teams);
    if (!team_ || team_->leads()) connections_.emplace(worker, step_, options, worker.replica.oars(), worker.exact);
  }

  // Background collectives use this object, so they must end first.
  ~Ps() override { wait_for_all(); }

  StepReport step(const Work& work) override {
    begin();
    if (options_.returns_gradients)
      worker_.updater.ensure_state();
    else
      worker_.updater.give_up_state();
    return options_.synchronous ? step_together(work) : step_alone(work);
  }

  void end_interval() override {
    begin();
    if (!options_.synchronous) {  // after all workers have pushed, they all pull the same weights
      worker_.group.barrier();
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) connections_->pull(b);
      connections_->wait_all();
      worker_.replica.refresh_weight_forms();
    }
    wait_for_all();
    if (connections_) connections_->end();
    if (team_) team_->end();
    has_begun_ = false;
  }

 private:
  void begin() {
    if (has_begun_) return;
    if (team_) team_->begin();
    if (connections_) connections_->begin();
    has_begun_ = true;
  }

  StepReport step_together(const Work& work) {
    StepReport report;
    if (!options_.returns_gradients) report.penalty = worker_.updater.penalty_now();
    wait_for_all();
    if (team_) team_->set(work);
    std::vector<std::int64_t> ends;
    if (team_)
      ends = team_->ends();
    else
      for (const base::Range& share : worker_.assignment.shares(work.step)) ends.push_back(share.end);
    if (connections_)
      connections_->set({.partials = team_ ? team_->sums() : step_.expect(work, {work.oars}),
                         .samples = work.batch.samples,
                         .step = work.step,
                         .lr = work.lr},
                        std::move(ends));
    const crew::ComputeReport computed = step_.compute(work, {work.oars}, [&](std::size_t bucket) { push(bucket); });
    note_ = step_.write_note(work, computed, before_);
    const auto gather = [this](comm::Collectives& group) {
      group.all_gather(std::as_bytes(std::span(note_)), std::as_writable_bytes(std::span(all_notes_)));
    };
    if (!team_) notes_ = worker_.group.start(gather);
    double waited = 0;
    const auto wait = [&](const auto& f) {
      const std::int64_t start_ns = base::now_ns();
      f();
      waited += base::seconds_since(start_ns);
    };
    const std::int64_t begin_ns = base::now_ns();
    if (team_) wait([&] { share_replies(); });
    if (options_.returns_gradients) {
      update(work, wait);
      report.penalty = worker_.updater.penalty();
    } else if (connections_) {
      wait([&] { connections_->wait_all(); });
    }
    worker_.replica.refresh_weight_forms();
    wait([&] {
      if (team_)
        gather(worker_.group);
      else
        std::exchange(notes_, std::nullopt)->wait();
    });
    const double update_seconds = base::seconds_since(begin_ns) - waited;
    step_.read_notes(all_notes_, work, report);
    set_seconds(report, work, computed, update_seconds, waited);
    return report;
  }

  // Called in the order of buckets, on any thread.
  void push(std::size_t bucket) {
    if (!team_) return connections_->push(bucket);
    added_.push_back(team_->add_up(bucket, [this, bucket] {
      if (connections_) connections_->push(bucket);
    }));
  }

  // Broadcasts the servers' replies from the leader to the team, bucket by bucket.
  void share_replies() {
    for (comm::PendingCollective& each : added_) each.wait();
    if (connections_ && worker_.updater.clips())
      connections_->wait_all();  // with clipping the replies come after all pushes
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      if (connections_) connections_->wait(b);
      const base::Range floats = step_.buckets()[b].floats;
      const std::span<float> weights(worker_.replica.weights() + floats.begin, at(floats.size()));
      added_.push_back(team_->share(options_.returns_gradients ? step_.partial(0, floats) : weights));
    }
    for (comm::PendingCollective& each : added_) each.wait();
  }

  // Updates the weights with the summed gradients that come back, bucket by bucket.
  template <class Wait>
  void update(const Work& work, const Wait& wait) {
    crew::Replica& replica = worker_.replica;
    const float* gradient = step_.partial(0).data();
    optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
    const auto apply = [&](const crew::Chunk& chunk, const float* part) {
      worker_.updater.update(chunk, part, scalars);
    };
    const bool clips = worker_.updater.clips();
    for (std::size_t b = 0; b < step_.buckets().size(); ++b) {
      if (!team_) wait([&] { connections_->wait(b); });
      if (!clips) replica.for_each_chunk(gradient, step_.buckets()[b].chunks, apply);
    }
    if (clips) {
      worker_.updater.clip(gradient, scalars);
      replica.for_each_chunk(gradient, {0, static_cast<std::int64_t>(replica.chunks().size())}, apply);
    }
    replica.move_statistics(gradient + replica.space().trained_floats(), work.batch.samples);
  }

  StepReport step_alone(const Work& work) {
    StepReport report;
    const int oars = worker_.replica.oars();
    for (std::int64_t oar = work.oars.begin; oar < work.oars.end; ++oar)
      report.samples += base::oar_samples(static_cast<int>(oar), oars, work.batch.samples).size();
    if (report.samples == 0) {
      report.seconds = seconds_of(work, {});
      return report;
    }
    const crew::Share share{work.oars, true};
    report.penalty = worker_.updater.penalty_now();
    connections_->set(
        {.partials = step_.expect(work, share), .samples = report.samples, .step = work.step, .lr = work.lr});
    const bool clips = worker_.updater.clips();
    const crew::ComputeReport computed = step_.compute(work, share, [&](std::size_t bucket) {
      if (!clips) push(bucket);
    });
    const std::int64_t begin_ns = base::now_ns();
    if (clips) {  // clips this worker's own gradient; each push carries the factor
      optim::StepScalars scalars = worker_.updater.scalars(work.step, work.lr);
      worker_.updater.clip(step_.partial(0).data(), scalars);
      connections_->set_clip(scalars.clip);
      for (std::size_t b = 0; b < step_.buckets().size(); ++b) push(b);
    }
    const std::int64_t start_ns = base::now_ns();
    connections_->wait_all();
    const double waited = base::seconds_since(start_ns);
    worker_.replica.refresh_weight_forms();
    report.loss = computed.loss;
    report.correct = computed.correct;
    set_seconds(report, work, computed, base::seconds_since(begin_ns) - waited, waited);
    return report;
  }

  void set_seconds(StepReport& report, const Work& work, const crew::ComputeReport& computed, double update,
                   double waited) {
    report.seconds = seconds_of(work, computed);
    report.seconds.update += update;
    report.seconds.network = waited;
    report.seconds.hidden = std::max(0.0, (connections_ ? connections_->take_busy_seconds() : 0) - waited);
    before_ = report.seconds;
  }

  void wait_for_all() noexcept {
    const auto wait = [](comm::PendingCollective& pending) {
      try {
        pending.wait();
      } catch (...) {  // the failed step has reported it already
      }
    };
    if (notes_) wait(*notes_);
    notes_.reset();
    for (comm::PendingCollective& each : added_) wait(each);
    added_.clear();
  }

  WorkerContext worker_;
  PsOptions options_;
  SyncStep step_;
  std::vector<double> note_, all_notes_;
  std::optional<comm::PendingCollective> notes_;
  std::vector<comm::PendingCollective> added_;  // with teams: one per bucket for the sums, then for the replies
  StepSeconds before_;
  bool has_begun_ = false;
  std::optional<HostTeam> team_;
  std::optional<ServerConnections> connections_;  // not in team members; last: its threads use the other members
};

class PsConfig : public StrategyConfig {
 public:
  PsConfig(const PsOptions& options, ShareRules shares)
      : StrategyConfig({.is_synchronous = options.synchronous,
                        .needs_servers = true,
                        .state_owner = options.returns_gradients ? StateOwner::workers : StateOwner::servers,
                        .outlives_workers = !options.synchronous,
                        .adds_among_workers = options.synchronous},
                       std::move(shares)),
        options_(options) {}

  std::unique_ptr<Strategy> make_worker_side(const WorkerContext& worker) const override {
    return make_ps(worker, options_);
  }
  std::unique_ptr<ServerSide> make_server_side(Server& server) const override {
    return server.serve({options_.synchronous, options_.returns_gradients, leaders_of(options_.teams)});
  }

 private:
  PsOptions options_;
};

WorkerGroups teams_of(const WorkerSet& workers) {
  return workers.hosts.empty() ? groups_by_count(std::max(workers.workers, 1), 1) : teams_by_host(workers.hosts);
}

StrategyConfigPtr configure_ps(base::Spec& spec, const WorkerSet& workers) {
  const std::string mode = spec.word("mode", "sync");
  const std::vector<std::string> modes{"sync", "async", "ssp", "dssp"};
  if (std::ranges::find(modes, mode) == modes.end())
    base::user_error("{}", base::unknown_name("mode of ps", mode, modes));
  PsOptions options;
  options.synchronous = mode == "sync";
  options.bucket_bytes = read_bucket_bytes(spec);
  if (!options.synchronous) {
    const Staleness staleness = mode == "ssp"    ? Staleness::bounded
                                : mode == "dssp" ? Staleness::dynamic
                                                 : Staleness::any;
    return std::make_shared<PsConfig>(options, read_share_rules(spec, staleness));
  }
  const std::string back = spec.word("return", "weights");
  if (back != "weights" && back != "gradients")
    base::user_error("--strategy: return is '{}', expected weights or gradients", back);
  options.returns_gradients = back == "gradients";
  const std::int64_t levels = spec.integer("levels", 1);
  if (levels != 1 && levels != 2) base::user_error("--strategy: levels is {}, expected 1 or 2", levels);
  if (levels == 2) options.teams = teams_of(workers);
  return std::make_shared<PsConfig>(options, ShareRules{});
}

}  // namespace

StrategyRow ps_row() {
  return {"ps",
          "servers hold the weights; sync has the bits of single, the others let fast workers go ahead",
          {{"mode", "sync|async|ssp|dssp", "synchronous; asynchronous; bounded staleness; a bound that adapts"},
           {"staleness", "3", "ssp: pushes that a worker may be ahead of the slowest"},
           {"low", "3", "dssp: the lower bound"},
           {"high", "15", "dssp: the upper bound"},
           {"lr-scale", "auto", "async, ssp, dssp: factor of the learning rate of a push; auto: 1 / shares of a batch"},
           {"return", "weights|gradients", "sync: what servers send back"},
           {"levels", "1|2", "sync: 2 sums the gradients of a host before one of its workers pushes"},
           {"bucket", "2048", "KB of gradients that travel together"}},
          configure_ps};
}

std::unique_ptr<Strategy> make_ps(const WorkerContext& worker, const PsOptions& options) {
  return std::make_unique<Ps>(worker, options);
}

}  // namespace trireme::strategy
