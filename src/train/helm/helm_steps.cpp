// The helm during an interval of steps: orders, reports, shares and limits.
#include <algorithm>
#include <cmath>

#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "train/helm/helm.h"
#include "train/helm/helm_text.h"
#include "train/run_folder/lower_rate.h"

namespace trireme::train {
namespace {

constexpr double kLookSeconds = 0.1;  // how often to check for an interrupt
constexpr double kReportSeconds = 1;  // how often to say what the workers do
constexpr std::size_t kLongestResources = std::size_t{64} << 10;

using base::at;

}  // namespace

// The step before which the next interval ends.
std::int64_t Helm::next_meeting() const {
  const Experiment& e = context_.experiment;
  const std::int64_t step = state_.progress().step;
  std::int64_t next = std::min(e.total_steps, (step / e.steps_per_epoch + 1) * e.steps_per_epoch);
  if (const std::int64_t every = checkpoint_every_.steps; every > 0) next = std::min(next, (step / every + 1) * every);
  for (const std::int64_t watched : {watch_layers_, hash_every_})
    if (watched > 0 && meets_anywhere()) next = std::min(next, (step / watched + 1) * watched);
  if (const std::int64_t until = context_.phases[phase_].until; until > step) next = std::min(next, until);
  return next;
}

// Whether an interval may end after any step without a change of what is computed.
bool Helm::meets_anywhere() const { return phase().traits().is_synchronous && !phase().traits().holds_shares; }

// Whether the meeting at this step looks at the weights.
bool Helm::is_watched(std::int64_t every, std::int64_t step) const {
  return every > 0 && (step % every == 0 || !meets_anywhere());
}

void Helm::compute_until(std::int64_t to) {
  const std::int64_t start = base::now_ns(), from = coordinator_ ? coordinator_->from() : state_.progress().step;
  ended_ = 0;
  told_to_stop_ = false;
  limits_.assign(at(pushers()), -1);
  const bool new_ledger = state_.ledger().begin_interval(context_.roles.workers);
  if (!phase().traits().is_synchronous && !coordinator_)
    coordinator_.emplace(pushers(), context_.experiment.oars, from, to, phase().shares().bound);
  const double lr_scale =
      phase().shares().lr_scale > 0 || !coordinator_ ? phase().shares().lr_scale : 1.0 / coordinator_->cut();
  const bool captures = is_watched(watch_layers_, to) && !phase().traits().holds_shares;
  const ComputeOrder order{phase_, from, to, lr_scale, new_ledger, captures ? to : 0};
  helm_mailbox_.order_workers(order);
  if (phase().traits().needs_servers) helm_mailbox_.order_servers(order);
  state_.ledger().interval_ordered();
  send_limits();
  workers_reported_ns_ = base::now_ns();
  while (ended_ < context_.roles.workers) {
    poll_reports();
    if (base::seconds_since(workers_reported_ns_) >= kReportSeconds) report_workers();
  }
  if (!failure_) report_workers();
  if (coordinator_)
    for (const auto& [pushes, count] : coordinator_->staleness()) staleness_[pushes] += count;
  coordinator_.reset();
  seconds_.stepping += base::seconds_since(start);
  if (failure_) std::rethrow_exception(failure_);
}

void Helm::watch_resources() {
  resources_.emplace(
      [this](observe::ResourcesUsed used) {
        try {
          note_resources(std::move(used));
        } catch (const base::Error&) {  // a record has failed, as the helm's own thread will notice
        }
      },
      1.0, context_.experiment.cores.cpus,
      observe::Watched{.host = context_.hosts[at(strategy::RoleMap::kHelm)],
                       .core_limit = observe::core_limit(context_.experiment.cores)});
}

void Helm::note_resources(observe::ResourcesUsed used) {
  resource_totals_.add(used.figures, 1e-9 * static_cast<double>(base::now_ns()));
  recorder_->publish(std::move(used));
}

void Helm::handle_resources() {
  if (context_.roles.world() == 1) return;
  resource_room_.resize(kLongestResources);
  while (const auto got = mailbox().receive_within(0, comm::kAnyRank, kResources, resource_room_))
    note_resources(decode<observe::ResourcesUsed>(std::span(resource_room_).first(got->bytes)));
}

void Helm::report_workers() {
  if (!straggler_monitor_->has_news()) return;
  observe::WorkersReport report = straggler_monitor_->report(base::seconds_since(workers_reported_ns_));
  workers_reported_ns_ = base::now_ns();
  report.step = state_.progress().step;
  for (observe::WorkerActivity& worker : report.workers) {
    worker.host = context_.hosts[at(context_.roles.process_of_worker(worker.worker))];
    if (coordinator_ || at(worker.worker) >= shares_.size()) continue;
    worker.first_oar = shares_[at(worker.worker)].begin;
    worker.end_oar = shares_[at(worker.worker)].end;
  }
  recorder_->publish(std::move(report));
}

void Helm::poll_reports() {
  if (!interrupted_ && (context_.signals.interrupted() || control_->wants_stop())) {
    interrupted_ = true;
    stop_interval();
  }
  if (control_->wants_pause()) stop_interval();
  stop_for_checkpoint();
  const auto report =
      helm_mailbox_.receive(kLookSeconds);  // throws when a role has failed: then the interval cannot be finished
  try {
    note_detachment();
    handle_resources();
    if (report) handle_report(*report);
  } catch (const base::Error&) {
    if (context_.group.is_broken()) throw;
    // The workers first end their interval; then compute_until() throws this failure.
    if (!failure_) failure_ = std::current_exception();
    stop_interval();
  }
}

void Helm::handle_report(const Report& report) {
  std::visit(Match{[&](const StepMessage& message) {
                     if (failure_) return;
                     shares_ = message.shares;
                     straggler_monitor_->see(message.notes, message.shares);
                     on_step({message.step, message.sums, mean_of(message.notes)});
                   },
                   [&](const ShareRequest& request) { answer_share_request(request.pusher); },
                   [&](const PushMessage& message) { handle_push(message); },
                   [&](const IntervalEndMessage& message) { handle_interval_end(message); },
                   [&](const LinksMessage& message) { straggler_monitor_->set_links(message.worker, message.links); },
                   [](const auto&) { base::check(false, "the helm received an answer to no order"); }},
             report);
}

void Helm::handle_interval_end(const IntervalEndMessage& message) {
  ++ended_;
  if (message.worker == 0) synchronisations_ += message.synchronisations;
  state_.ledger().set_worker(message.worker, message.ledger);
}

void Helm::handle_push(const PushMessage& push) {
  for (std::size_t i = 0; i < push.notes.size(); ++i)
    straggler_monitor_->add_push(phase().shares().workers_of(push.pusher).at(i), push.notes[i].seconds, push.clock);
  const Coordinator::Share share = coordinator_->in_hand(push.pusher);
  const std::vector<int> members = phase().shares().workers_of(push.pusher);
  for (std::size_t i = 0; i < members.size(); ++i)
    state_.ledger().add_push(members[i], {share.step, strategy::oars_of_member(share.oars, static_cast<int>(i),
                                                                               static_cast<int>(members.size()))});
  const std::vector<Coordinator::Step> steps = coordinator_->done(push, base::now_ns());
  send_limits();
  if (failure_) return;
  recorder_->publish(observe::PushDone{push.step, push.pusher, !phase().shares().groups.empty(), push.clock,
                                       push.slowest, !phase().shares().bound.is_none(), base::now_ns()});
  for (const Coordinator::Step& step : steps) on_step(step);
}

void Helm::answer_share_request(int pusher) {
  const Coordinator::Share share = coordinator_->hand_out(pusher);
  send_message(mailbox(), process_of_pusher(pusher), kAssign, ShareReply{share.step, share.oars});
  if (share.step >= 0) return;
  coordinator_->leave(pusher);
  send_limits();
}

void Helm::send_limits() {
  if (!coordinator_ || phase().shares().bound.is_none()) return;
  for (int r = 0; r < pushers(); ++r) {
    const std::int64_t limit = coordinator_->clocks().limit(r);
    if (limit == limits_[at(r)]) continue;
    limits_[at(r)] = limit;
    send_message(mailbox(), process_of_pusher(r), kLimit,
                 LimitMessage{coordinator_->from(), limit, coordinator_->clocks().slowest()});
  }
}

void Helm::stop_interval() {
  if (told_to_stop_) return;
  told_to_stop_ = true;
  if (coordinator_) return coordinator_->stop();
  const char word = 1;
  send_values<char>(mailbox(), context_.roles.process_of_worker(0), kStop, std::span(&word, 1));
}

// The helm alone reads the clock, so that all workers stop after the same step.
void Helm::stop_for_checkpoint() {
  const bool is_time =
      checkpoint_every_.seconds > 0 && base::seconds_since(last_checkpoint_ns_) >= checkpoint_every_.seconds;
  if (checkpoint_is_due_ || !(is_time || control_->takes_wish_for_checkpoint())) return;
  checkpoint_is_due_ = true;
  stop_interval();
}

void Helm::note_detachment() {
  if (is_detached_) return;
  const std::string cause = context_.signals.hung_up() ? "SIGHUP" : recorder_->why_failed("console");
  if (cause.empty()) return;
  is_detached_ = true;
  recorder_->publish(observe::Detached{state_.progress().step, cause});
}

void Helm::on_step(const Coordinator::Step& step) {
  const Experiment& e = context_.experiment;
  const StepSums& sums = step.sums;
  const std::int64_t epoch = (step.step - 1) / e.steps_per_epoch;
  if (!std::isfinite(sums.loss)) stop_at_nan("loss", sums.loss, step.step, epoch + 1);
  lr_ = sums.lr;
  state_.add_step(step.step, sums);
  samples_here_ += static_cast<std::int64_t>(sums.samples);
  seconds_.steps += step.seconds;
  const double passed = base::seconds_since(start_ns_);
  const auto steps = static_cast<double>(state_.progress().step - start_step_);
  recorder_->publish(
      observe::StepDone{.step = step.step,
                        .epoch = epoch,
                        .loss = sums.loss / sums.samples + sums.penalty,
                        .accuracy = state_.has_accuracy() ? sums.correct / sums.samples : kUnknown,
                        .lr = sums.lr,
                        .seconds = step.seconds,
                        .epoch_loss = state_.epoch_loss(),
                        .epoch_accuracy = state_.epoch_accuracy(),
                        .samples_per_second = static_cast<double>(samples_here_) / passed,
                        .total_steps = e.total_steps,
                        .seconds_left = passed / steps * static_cast<double>(e.total_steps - state_.progress().step),
                        .time_ns = base::now_ns()});
}

namespace {

// The file of the best weights, else of the newest, that are not of the last checkpoint; empty if there are none.
std::string weights_before_the_last(const store::CheckpointStore& checkpoints) {
  const std::vector<base::fs::path> all = checkpoints.list();
  if (all.size() < 2) return {};
  const auto best = checkpoints.best();
  return ((best && *best != all.back() ? *best : all[all.size() - 2]) / "weights.safetensors").string();
}

}  // namespace

// Called before the step reaches a checkpoint.
void Helm::stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) {
  recorder_->publish(observe::Diverged{step, what, value});
  recorder_->flush();
  const auto last = checkpoints_->latest();
  const std::string folder = folder_->path().string();
  const std::string lower = options_for_lower_rate(context_.settings, context_.optimizer->lr());
  go_on_command_ = "train --resume " + folder + lower;
  // The first step computes with the weights of the checkpoint: no rate would help.
  if (last && step == start_step_ + 1) {
    const std::string earlier = weights_before_the_last(*checkpoints_);
    go_on_command_ = fmt::format("train --config {}/run.json{} --run {}-again{}", folder,
                                 earlier.empty() ? "" : " --init-from " + earlier, folder, lower);
    base::run_error(
        "the {} became {} at step {} (epoch {}), with the weights of {}: they are too large already; begin again{}",
        what, value, step, epoch, last->string(), earlier.empty() ? "" : " from earlier weights");
  }
  base::run_error(
      "the {} became {} at step {} (epoch {}), {}; it needs a lower learning rate or a bound of the gradient", what,
      value, step, epoch, last ? "the last good checkpoint is " + last->string() : "before the first checkpoint");
}

}  // namespace trireme::train
