#include "train/helm/helm.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>

#include "base/error.h"
#include "base/error_of.h"
#include "base/index.h"
#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/text/text.h"
#include "comm/mailbox/clock_offset.h"
#include "models/find_model.h"
#include "train/helm/helm_text.h"
#include "train/messages/role_mailbox.h"
#include "train/run_folder/disk_space.h"
#include "train/run_folder/lower_rate.h"
#include "train/run_folder/resume.h"
#include "train/run_folder/start_weights.h"

namespace trireme::train {
namespace {

using base::at;

// Replaces the "rank N" at the beginning of a group's error by the role's name: users know workers and servers.
std::string in_role_names(const std::string& sentence, const strategy::RoleMap& roles) {
  int rank = 0, length = 0;
  if (std::sscanf(sentence.c_str(), "rank %d%n", &rank, &length) != 1 || rank < 0 || rank >= roles.world())
    return sentence;
  return roles.name(rank) + sentence.substr(at(length));
}

}  // namespace

Helm::Helm(Context context)
    : context_(std::move(context)),
      helm_mailbox_(context_.group, context_.roles),
      checkpoint_every_(parse_checkpoint_interval(context_.settings.label("checkpoint-every"),
                                                  context_.settings.text("checkpoint-every"))),
      keep_(static_cast<int>(context_.settings.integer("keep", 1, 1 << 20))),
      patience_(context_.settings.integer("early-stopping", 0, 1 << 20)),
      watch_layers_(context_.settings.integer("watch-layers", 0, std::int64_t{1} << 40)),
      hash_every_(context_.settings.integer("hash-every", 0, std::int64_t{1} << 40)),
      state_({helm_mailbox_, context_.roles, context_.experiment, context_.space, context_.optimizer, context_.local,
              patience_}),
      notes_(context_.notes) {
  for (const strategy::Phase& phase : context_.phases)
    if (phase.traits().holds_shares) control_->allow_only_stop();
}

Helm::~Helm() {
  if (context_.spans != nullptr) context_.spans->close();
}

std::size_t Helm::phase_of(std::int64_t step) const {
  std::size_t phase = 0;
  while (phase + 1 < context_.phases.size() && step >= context_.phases[phase].until) ++phase;
  return phase;
}

void Helm::compare_clocks() {
  for (int w = 0; w < context_.roles.workers; ++w) {
    const int process = context_.roles.process_of_worker(w);
    if (process == strategy::RoleMap::kHelm) {
      clock_ahead_ns_.push_back(0);
      continue;
    }
    helm_mailbox_.order_worker(w, ClockOrder{});
    clock_ahead_ns_.push_back(comm::ask_clock(mailbox(), process, kClock).ahead_ns);
  }
  straggler_monitor_.emplace(clock_ahead_ns_);
}

std::string Helm::conduct() {
  try {
    if (const std::string& resumed = context_.settings.text("resume"); resumed.empty())
      begin_new();
    else
      begin_resumed(resumed);
    compare_clocks();
    say_hello();
    loop();
    for (;;) try {
        std::string summary = finish();
        end_all();
        return summary;
      } catch (const base::Error&) {
        if (!go_on_without_lost()) throw;
      }
  } catch (const std::exception&) {
    const base::Error error = base::error_of(std::current_exception());
    const bool broken = context_.group.is_broken();
    const std::string sentence = broken ? in_role_names(context_.group.why_broken(), context_.roles) : error.what();
    if (!broken) gather_spans_of_failure();
    if (!broken) end_all();
    if (error.kind() != base::ErrorKind::run || !folder_) throw;
    if (go_on_command_.empty()) go_on_command_ = "train --resume " + folder_->path().string();
    base::run_error("{}{}; go on with: {} {}", sentence, what_to_free(sentence, folder_->path(), needed_bytes()),
                    base::program_name(), go_on_command_);
  }
}

void Helm::end_all() {
  try {
    helm_mailbox_.order_workers(EndOrder{});
    helm_mailbox_.order_servers(EndOrder{});
  } catch (const base::Error&) {  // a role that is gone needs no order
  }
}

// Only with --init-from; otherwise each worker initialises its weights itself.
void Helm::start_from_other_weights() {
  const std::string& from = context_.settings.text("init-from");
  if (from.empty()) return;
  const StateKeeper::Floats floats = state_.memory();
  fill_fresh_weights(context_.experiment.network, context_.space, floats.weights,
                     context_.experiment.network.initialiser(), context_.experiment.seed);
  std::vector<std::string> fresh;
  notes_.push_back("starts with " + take_weights_from(context_.space, floats.weights, from, &fresh));
  std::erase_if(fresh, [&](const std::string& name) {
    const auto parameters = context_.experiment.network.parameters();
    return std::ranges::none_of(parameters, [&](const auto& each) { return each.is_frozen && each.name == name; });
  });
  if (!fresh.empty())
    notes_.push_back(
        fmt::format("frozen at a random start, because the other weights do not fit: {}; leave them out "
                    "of --freeze",
                    base::join(fresh, ", ")));
  state_.spread(floats, false);
}

void Helm::begin_new() {
  start_from_other_weights();
  const std::string model(models::model_name(context_.settings.text("model")));
  folder_ = RunFolder::create(context_.settings.text("run"), model, context_.settings.text("data"));
  folder_->lock();
  checkpoints_.emplace(folder_->checkpoints(), keep_);
  try {
    write_run_json(*folder_, context_.settings, context_.experiment, context_.prints, world_of_run(context_),
                   {start_now(0)});
  } catch (const base::Error& error) {
    const base::fs::path path = folder_->path();
    folder_->remove_if_empty();
    folder_.reset();  // there is nothing to go on with
    throw base::Error(error.kind(), std::string(error.what()) + what_to_free(error.what(), path, needed_bytes()));
  }
  open_records();
}

std::uint64_t Helm::needed_bytes() const { return bytes_of_checkpoint(context_.space, context_.optimizer->slots()); }

void Helm::begin_resumed(const std::string& run) {
  folder_ = RunFolder::open(run);
  folder_->lock();
  check_same_data(*folder_, context_.experiment);
  for (const RunStart::Change& change : changes_between(settings_of_run(run), context_.settings))
    if (decides_rate(change.option))
      notes_.push_back(fmt::format("from here on with --{} {} instead of {}", change.option, change.to, change.from));
  const std::string other_bits =
      check_same_kernels(*folder_, context_.prints, context_.settings.flag("allow-other-bits"));
  if (!other_bits.empty()) notes_.push_back(other_bits);
  checkpoints_.emplace(folder_->checkpoints(), keep_);
  const auto check = [this](const store::LoadedCheckpoint& loaded) { state_.check(loaded); };
  if (const auto loaded = checkpoints_->latest_valid(check)) {
    restore_from(*loaded);
  } else {
    notes_.emplace_back("the run has no checkpoint yet: it starts from the beginning");
    start_from_other_weights();
  }
  checkpoints_->drop_after(state_.progress().step);
  open_records();
  recorder_->publish(observe::RolledBack{state_.progress().step, state_.progress().position != 0 && !state_.is_over(),
                                         true, base::now_ns()});
  recorder_->flush();
  std::vector<RunStart> starts = stored_starts(*folder_);
  starts.push_back(start_now(state_.progress().step));
  starts.back().changes = changes_between(settings_of_run(run), context_.settings);
  write_run_json(*folder_, context_.settings, context_.experiment, context_.prints, world_of_run(context_), starts);
  if (state_.is_over()) return;
  std::error_code ignored;
  base::fs::remove(folder_->file("summary.json"), ignored);  // its absence marks an unfinished run
}

void Helm::restore_from(const store::LoadedCheckpoint& loaded) {
  const std::int64_t planned = TrainingProgress::from_checkpoint(loaded).total_steps,
                     total = context_.experiment.total_steps;
  if (const std::int64_t done = loaded.progress.step; done > total)
    base::user_error("the run {} has done {} already, more than the {} of {}; give more --epochs or --steps",
                     folder_->path().string(), base::counted(done, "step"), total,
                     context_.settings.integer("steps", 0, std::int64_t{1} << 40) > 0
                         ? "--steps"
                         : "--epochs " + context_.settings.text("epochs"));
  state_.restore(loaded);
  notes_.push_back(fmt::format("resumed at step {} from {}", state_.progress().step, loaded.folder.string()));
  const std::string schedule = context_.settings.text("schedule");
  if (planned != total && (schedule.starts_with("cosine") || schedule.starts_with("onecycle")))
    notes_.push_back(
        fmt::format("the schedule '{}' now ends at step {} instead of {}; the bits are not those of one run", schedule,
                    total, planned));
  if (state_.is_over())
    notes_.emplace_back("the run is finished; to go on, give more --epochs or --steps, or a larger --early-stopping");
}

// Moves weights and optimizer state to the state owner of the next phase.
void Helm::hand_over_to(std::size_t next) {
  const strategy::Phase& phase = context_.phases[next];
  const std::int64_t start = base::now_ns(), step = state_.progress().step;
  const bool switches = next > 0 && step == context_.phases[next - 1].until;
  state_.hand_over(next, phase.traits().state_owner, !switches || phase.keeps_state);
  phase_ = next;
  state_.wait_for_workers();
  recorder_->publish(observe::HandedOver{step, phase.text, switches, start, base::now_ns()});
  if (!switches) return;
  hand_over_seconds_ = std::max(hand_over_seconds_, base::seconds_since(start));
  ++hand_overs_;
}

void Helm::loop() {
  start_ns_ = epoch_start_ns_ = last_checkpoint_ns_ = base::now_ns();
  start_step_ = met_at_ = last_checkpoint_step_ = state_.progress().step;
  seconds_before_ = state_.progress().seconds;
  while (!state_.is_over() || meeting_is_due_) try {
      if (!meeting_is_due_) {
        const std::size_t next = phase_of(state_.progress().step);
        rest_while_paused();
        if (interrupted_) base::run_error("interrupted after step {}", state_.progress().step);
        if (next != phase_ || context_.phases[next].traits().state_owner != state_.owner()) hand_over_to(next);
        compute_until(coordinator_ ? coordinator_->to() : next_meeting());
        meeting_is_due_ = state_.progress().step > met_at_;  // false if interrupted before the first step
      }
      if (meeting_is_due_) hold_meeting();
      meeting_is_due_ = false;
      met_at_ = state_.progress().step;
      if (interrupted_ && !state_.is_over()) base::run_error("interrupted after step {}", state_.progress().step);
    } catch (const base::Error&) {
      if (!go_on_without_lost()) throw;
    }
}

// Between intervals all roles wait for orders, which no time-out ends.
void Helm::rest_while_paused() {
  if (!control_->wants_pause()) return;
  const std::int64_t start = base::now_ns();
  if (state_.progress().step != last_checkpoint_step_) checkpoint(state_.collect(), false);
  control_->set_resting(true);
  while (control_->wants_pause() && !interrupted_) {
    interrupted_ = context_.signals.interrupted() || control_->wants_stop();
    (void)helm_mailbox_.receive(0.1);  // throws when a role has failed
    note_detachment();
    handle_resources();
    (void)control_->takes_wish_for_checkpoint();  // it is written already
  }
  control_->set_resting(false);
  const std::int64_t rested = base::now_ns() - start;
  start_ns_ += rested;
  epoch_start_ns_ += rested;
}

void Helm::hold_meeting() {
  watch_weights();
  const bool epoch_over = state_.progress().position == 0;
  if (epoch_over || state_.is_over())
    end_epoch(epoch_over);
  else if (interrupted_ || checkpoint_is_due_ ||
           (checkpoint_every_.steps > 0 && state_.progress().step % checkpoint_every_.steps == 0))
    checkpoint(state_.collect(), false);
}

bool Helm::go_on_without_lost() {
  if (!context_.group.is_broken() || !phase().traits().outlives_workers) return false;
  const auto regrouped = context_.regroup();
  if (!regrouped) return false;
  std::vector<std::string> lost;
  for (const int worker : regrouped->lost) {
    lost.push_back(
        fmt::format("worker {} on {}", worker, context_.hosts[at(context_.roles.process_of_worker(worker))]));
    forget_worker(worker);
  }
  context_.roles = regrouped->roles;
  context_.phases = regrouped->phases;
  context_.hosts = regrouped->hosts;
  context_.threads = regrouped->threads;
  lost_.insert(lost_.end(), lost.begin(), lost.end());
  for (const std::string& who : lost)
    recorder_->publish(observe::WorkerLost{state_.progress().step, who, context_.roles.workers});
  if (coordinator_) coordinator_->begin_again(pushers());
  return true;
}

void Helm::forget_worker(int worker) {
  state_.ledger().lose(worker);
  clock_ahead_ns_.erase(clock_ahead_ns_.begin() + worker);
  straggler_monitor_->lose(worker);
}

}  // namespace trireme::train
