// The helm between intervals of steps: evaluation, checkpoints, and the end of a run.
#include <algorithm>
#include <cmath>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/cpu/machine_peaks.h"
#include "base/error.h"
#include "base/index.h"
#include "base/system/clock.h"
#include "base/system/log.h"
#include "base/text/text.h"
#include "train/evaluation/predictions.h"
#include "train/helm/helm.h"
#include "train/helm/helm_text.h"
#include "train/messages/role_mailbox.h"
#include "train/results/profile_report.h"
#include "train/run_folder/disk_space.h"

namespace trireme::train {
namespace {

using OrderedJson = nlohmann::ordered_json;

using base::at;

}  // namespace

observe::StepSeconds mean_of(const std::vector<strategy::WorkerStepReport>& notes) {
  observe::StepSeconds mean;
  for (const strategy::WorkerStepReport& note : notes) mean += note.seconds * (1 / static_cast<double>(notes.size()));
  return mean;
}

WorldOfRun world_of_run(const Helm::Context& context) {
  WorldOfRun world{context.roles.workers, context.roles.servers, {}};
  for (int process = 0; process < context.roles.world(); ++process) {
    const int worker = context.roles.worker_of(process);
    world.processes.push_back(
        {context.roles.name(process), context.hosts[at(process)], worker >= 0 ? context.threads[at(worker)] : 0});
  }
  return world;
}

void Helm::open_records() {
  recorder_.emplace(context_.sinks,
                    SinkContext{folder_->path(), context_.settings.flag("json"), context_.settings.flag("quiet"),
                                context_.experiment.cores.cpus, &context_.settings, control_});
  watch_resources();
  if (context_.spans == nullptr) return;
  context_.spans->open([this](std::string chunk) {
    try {
      recorder_->publish(observe::SpansRecorded{std::move(chunk)});
    } catch (const base::Error&) {  // of a record: the helm's next event ends the run
    }
  });
}

void Helm::say_hello() {
  if (const std::uint64_t left = free_bytes(folder_->path()); left < needed_bytes())
    notes_.push_back(fmt::format("{} has {} left and a checkpoint needs {}: free more before the first one",
                                 folder_->path().string(), base::human_bytes(static_cast<double>(left)),
                                 base::human_bytes(static_cast<double>(needed_bytes()))));
  const Experiment& e = context_.experiment;
  recorder_->publish(observe::RunStarted{.model = context_.settings.text("model"),
                                         .data = context_.settings.text("data"),
                                         .strategy = context_.settings.text("strategy"),
                                         .folder = folder_->path().string(),
                                         .parameters = e.network.parameter_count(),
                                         .train_samples = e.train->size(),
                                         .test_samples = e.test->size(),
                                         .batch = e.batch,
                                         .oars = e.oars,
                                         .steps_per_epoch = e.steps_per_epoch,
                                         .total_steps = e.total_steps,
                                         .first_step = state_.progress().step,
                                         .workers = context_.roles.workers,
                                         .servers = context_.roles.servers,
                                         .processes = context_.roles.world(),
                                         .threads = context_.threads,
                                         .notes = notes_});
}

Evaluation Helm::evaluate_on(bool validation) {
  const data::Dataset& set = validation ? *context_.experiment.validation : *context_.experiment.test;
  const int parts = context_.settings.text("evaluate") == "first" ? 1 : context_.roles.workers;
  helm_mailbox_.order_workers(EvaluateOrder{validation, parts});
  EvaluationSums sums;
  const auto append = [](std::vector<double>& to, const std::vector<double>& from) {
    to.insert(to.end(), from.begin(), from.end());
  };
  for (int w = 0; w < context_.roles.workers; ++w) {
    const auto part = helm_mailbox_.answer_of<EvaluationReply>(context_.roles.process_of_worker(w));
    append(sums.losses, part.losses);
    append(sums.corrects, part.corrects);
    append(sums.scores, part.scores);
    sums.confusion.resize(part.confusion.size());
    std::ranges::transform(sums.confusion, part.confusion, sums.confusion.begin(), std::plus());
  }
  return whole_evaluation(set, sums);
}

// Lines about the weights at a meeting: --watch-layers and --hash-every.
void Helm::watch_weights() {
  const std::int64_t step = state_.progress().step;
  const bool layers = is_watched(watch_layers_, step), hash = is_watched(hash_every_, step);
  if (!(layers || hash) || watched_at_ == step) return;
  const StateKeeper::Floats floats = state_.collect();
  if (layers) {
    const StepUpdates updates = phase().traits().holds_shares ? StepUpdates{} : state_.collect_updates();
    recorder_->publish(observe::LayerStatistics{step, layer_statistics(context_.space, floats.weights, updates)});
  }
  if (hash) recorder_->publish(observe::WeightsHashed{step, context_.space.sha256(floats.weights.data())});
  watched_at_ = step;
}

// Called after an epoch, or after the last step of a run that ends within an epoch.
void Helm::end_epoch(bool whole) {
  const std::int64_t start = base::now_ns();
  const std::int64_t epoch = whole ? state_.progress().epoch - 1 : state_.progress().epoch;
  const bool validates = context_.experiment.validation != nullptr;
  const Evaluation result = evaluate_on(validates);
  if (!std::isfinite(result.loss))
    stop_at_nan(validates ? "validation loss" : "test loss", result.loss, state_.progress().step, epoch + 1);
  seconds_.evaluation += base::seconds_since(start);
  // The last call that can fail because a worker is lost; the meeting is then repeated. What follows runs once.
  const StateKeeper::Floats floats = state_.collect();
  const bool best = state_.add_result(result.loss, result.accuracy, whole);
  report_epoch(epoch, result, best);
  if (!validates) last_test_ = result;
  if (whole) state_.begin_epoch();
  if (writes_checkpoint_after_epoch(whole, best)) checkpoint(floats, best);
  epoch_start_ns_ = base::now_ns();
  epoch_start_seconds_ = seconds_.stepping;
  epoch_start_samples_ = samples_here_;
  if (state_.stopped_early()) recorder_->publish(observe::StoppedEarly{patience_});
}

bool Helm::writes_checkpoint_after_epoch(bool whole, bool best) const {
  const std::int64_t every = checkpoint_every_.epochs;
  return every == 0 || !whole || best || interrupted_ || checkpoint_is_due_ || state_.is_over() ||
         state_.progress().epoch % every == 0;
}

void Helm::report_epoch(std::int64_t epoch, const Evaluation& result, bool best) {
  const data::LedgerReport used = state_.ledger().total().report();
  const double rate =
      static_cast<double>(samples_here_ - epoch_start_samples_) / (seconds_.stepping - epoch_start_seconds_);
  recorder_->publish(
      observe::EpochDone{.step = state_.progress().step,
                         .epoch = epoch,
                         .train_loss = state_.progress().train_loss,
                         .train_accuracy = state_.progress().train_accuracy,
                         .held_out_loss = result.loss,
                         .held_out_accuracy = result.accuracy,
                         .held_out_scores = result.scores.named(),
                         .is_validation = context_.experiment.validation != nullptr,
                         .is_best = best,
                         .lr = lr_,
                         .strategy = phase().text,
                         .samples_used = {used.samples, used.used, used.once, used.missed(), used.repeated, used.order},
                         .staleness = staleness_,
                         .seconds = base::seconds_since(epoch_start_ns_),
                         .samples_per_second = rate});
  report_confusion(epoch, result, context_.experiment.validation != nullptr);
}

void Helm::report_confusion(std::int64_t epoch, const Evaluation& result, bool is_validation) {
  if (result.confusion.empty()) return;
  const data::DataSpec& spec = context_.experiment.test->spec();
  observe::ConfusionCounted counted{state_.progress().step, epoch, is_validation, {}, result.confusion};
  for (std::int64_t k = 0; k < spec.classes; ++k) counted.classes.push_back(class_name(spec, at(k)));
  recorder_->publish(std::move(counted));
}

void Helm::checkpoint(const StateKeeper::Floats& floats, bool best) {
  const std::int64_t start = base::now_ns(), step = state_.progress().step;
  // A ReLU can hide a NaN from the loss; it must not reach a checkpoint.
  const auto bad = std::ranges::find_if(floats.weights, [](float w) { return !std::isfinite(w); });
  if (bad != floats.weights.end()) stop_at_nan("value of a weight", *bad, step, state_.progress().epoch + 1);
  recorder_->flush();  // a checkpoint must not include steps that the records lack
  state_.save(*checkpoints_, floats, best, seconds_before_ + base::seconds_since(start_ns_));
  checkpoint_is_due_ = false;
  last_checkpoint_ns_ = base::now_ns();
  last_checkpoint_step_ = step;
  seconds_.checkpoint += base::seconds_since(start);
  recorder_->publish(observe::CheckpointWritten{step, best, start, base::now_ns()});
}

RunDetails Helm::details() const {
  RunDetails d;
  d.workers = context_.roles.workers;
  d.servers = context_.roles.servers;
  d.seconds = straggler_monitor_->seconds();
  d.caused_waiting_seconds = straggler_monitor_->caused();
  for (int w = 0; w < d.workers; ++w) d.hosts.push_back(context_.hosts[at(context_.roles.process_of_worker(w))]);
  d.threads = context_.threads;
  for (const base::Range& share : shares_) d.oars.push_back(share.size());
  d.staleness = staleness_;
  d.synchronisations = synchronisations_;
  d.hand_overs = hand_overs_;
  d.lost = lost_;
  d.longest_hand_over_seconds = hand_over_seconds_;
  d.lateness = straggler_monitor_->sentence(seconds_.stepping);
  return d;
}

std::string Helm::finish() {
  seconds_.total = base::seconds_since(start_ns_);
  RunResult result;
  result.run = folder_->path().string();
  result.progress = state_.progress();
  if (!last_test_) {
    last_test_ = evaluate_on(false);
    const bool is_whole = state_.progress().position == 0;
    if (state_.progress().step > start_step_)
      report_confusion(state_.progress().epoch - (is_whole ? 1 : 0), *last_test_, false);
  }
  result.test = *last_test_;
  result.stopped_early = state_.stopped_early();
  result.best_on = context_.experiment.validation_plan.best_on;
  result.best_step = checkpoints_->best_step();
  result.weights_sha256 = context_.space.sha256(state_.collect().weights.data());
  result.seconds = seconds_;
  result.details = details();
  gather_traffic(result.details);
  resources_.reset();  // which notes a last sample
  handle_resources();
  result.details.resources = resource_totals_.total();
  result.steps_here = state_.progress().step - start_step_;
  result.samples_here = samples_here_;
  gather_spans();
  recorder_->flush();
  observe::RunFinished finished{summary_json(context_.settings, context_.experiment, result),
                                summary_lines(context_.experiment.test->spec(), result), result.steps_here};
  std::string json = finished.summary;
  recorder_->publish(std::move(finished));
  recorder_->flush_all();
  note_detachment();
  recorder_->flush();
  if (context_.settings.flag("profile") && result.steps_here > 0 && context_.local.crew != nullptr) report_profile();
  return json;
}

void Helm::report_profile() {
  const Experiment& e = context_.experiment;
  const observe::Profile profile = context_.local.crew->profile(context_.local.updater->cost());
  const base::Peak peak = base::measure_peak(e.threads, e.crew_options.cpus);
  base::write_text_atomically(folder_->file("profile.json"),
                              OrderedJson::parse(profile_json(profile, peak)).dump(2) + "\n");
  recorder_->publish(observe::ProfileDone{profile_lines(profile, peak)});
  recorder_->flush_all();
}

// Called before the orders that end the run are sent.
void Helm::gather_traffic(RunDetails& details) {
  const strategy::RoleMap& roles = context_.roles;
  for (int w = 0; w < roles.workers; ++w) {
    helm_mailbox_.order_worker(w, SendTrafficOrder{});
    details.traffic.push_back(helm_mailbox_.answer_of<TrafficReply>(roles.process_of_worker(w)));
  }
  for (int s = 0; s < roles.servers; ++s) {
    const int process = roles.process_of_server(s);
    if (roles.worker_of(process) >= 0) continue;  // counted with the worker
    helm_mailbox_.order_server(s, SendTrafficOrder{});
    details.server_traffic.push_back(helm_mailbox_.answer_of<TrafficReply>(process));
  }
}

// The last spans of all processes, as far as they have not been sent yet.
void Helm::gather_spans() {
  if (context_.spans == nullptr) return;
  const strategy::RoleMap& roles = context_.roles;
  for (int w = 0; w < roles.workers; ++w) {
    helm_mailbox_.order_worker(w, SendSpansOrder{});
    (void)helm_mailbox_.answer_of<Acknowledgement>(roles.process_of_worker(w));
  }
  for (int s = 0; s < roles.servers; ++s) {
    const int process = roles.process_of_server(s);
    if (roles.worker_of(process) >= 0) continue;
    helm_mailbox_.order_server(s, SendSpansOrder{});
    (void)helm_mailbox_.answer_of<Acknowledgement>(process);
  }
  context_.drain_spans();
}

// The first error is the one to report.
void Helm::gather_spans_of_failure() {
  if (!recorder_ || recorder_->has_failed() || ended_ < context_.roles.workers || start_ns_ == 0) return;
  try {
    gather_spans();
  } catch (const base::Error& error) {
    if (!context_.group.is_broken()) base::log_warn("{}", error.what());
  }
}

}  // namespace trireme::train
