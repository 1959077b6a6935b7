// The helm between stretches of steps: evaluation, checkpoints, and the end of a run.
#include <algorithm>
#include <cmath>
#include <cstring>
#include <nlohmann/json.hpp>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "crew/peak.h"
#include "train/helm.h"
#include "train/helm_text.h"
#include "train/mail.h"
#include "train/profile_report.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

// NaN has no JSON form; null stands for it.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

std::size_t at(std::int64_t i) { return static_cast<std::size_t>(i); }

}  // namespace

std::string step_line(std::int64_t step, std::int64_t epoch, double loss, double accuracy, double lr,
                      const strategy::StepSeconds& s) {
  return Json{{"type", "step"},
              {"step", step},
              {"epoch", epoch},
              {"loss", number(loss)},
              {"accuracy", number(accuracy)},
              {"lr", lr},
              {"seconds",
               {{"load", s.load},
                {"forward", s.forward},
                {"backward", s.backward},
                {"network", s.network},
                {"update", s.update},
                {"hidden_network", s.hidden}}}}
      .dump();
}

strategy::StepSeconds mean_of(const std::vector<strategy::Note>& notes) {
  strategy::StepSeconds mean;
  const auto count = static_cast<double>(notes.size());
  for (const strategy::Note& note : notes) {
    mean.load += note.seconds.load / count;
    mean.forward += note.seconds.forward / count;
    mean.backward += note.seconds.backward / count;
    mean.update += note.seconds.update / count;
    mean.network += note.seconds.network / count;
    mean.hidden += note.seconds.hidden / count;
  }
  return mean;
}

WorldOfRun world_of_run(const Helm::Place& place) {
  WorldOfRun world{place.cast.workers, place.cast.servers, {}};
  for (int process = 0; process < place.cast.world(); ++process) {
    const int worker = place.cast.worker_of(process);
    world.processes.push_back(
        {place.cast.name(process), place.hosts[at(process)], worker >= 0 ? place.threads[at(worker)] : 0});
  }
  return world;
}

void Helm::open_records() {
  metrics_.emplace(folder_->file("metrics.jsonl"));
  if (place_.cast.world() > 1) other_resources_.emplace(folder_->file("resources.jsonl"));
  resources_.emplace(folder_->file("resources.jsonl"), 1.0, place_.experiment.cores.cpus);
  trace_.name_rank(kHelmInTrace, "helm");
  trace_.name_lane(kHelmLane, "meetings");
}

void Helm::say_hello() {
  const Experiment& e = place_.experiment;
  console_.line(fmt::format("{} ({} parameters) on {}: {} training, {} test samples", place_.settings.text("model"),
                            e.network.parameter_count(), place_.settings.text("data"), e.train->size(),
                            e.test->size()));
  const auto count = [](std::int64_t n, const char* what) {
    return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
  };
  std::string who = count(e.threads, "thread");
  if (place_.cast.world() > 1) {
    const bool equal = std::ranges::all_of(place_.threads, [&](int t) { return t == place_.threads[0]; });
    who = count(place_.cast.workers, "worker") + " with " + count(place_.threads[0], "thread") +
          (equal ? " each" : " and others");
    if (place_.cast.servers > 0) who += " and " + count(place_.cast.servers, "server");
    who += " (" + place_.settings.text("strategy") + ")";
  }
  console_.line(fmt::format("batch {} in {} on {}, {} an epoch, {} in all; run folder {}", e.batch,
                            count(e.oars, "oar"), who, count(e.steps_per_epoch, "step"), count(e.total_steps, "step"),
                            folder_->path().string()));
  for (const std::string& note : notes_) console_.line("note: " + note);
}

Evaluation Helm::evaluate_on(bool validation) {
  const data::Dataset& set = validation ? *place_.experiment.validation : *place_.experiment.test;
  const int parts = place_.settings.text("evaluate") == "first" ? 1 : place_.cast.workers;
  order_workers(Json{{"do", "evaluate"}, {"set", validation ? "validation" : "test"}, {"workers", parts}}.dump());
  std::vector<double> losses, corrects;
  for (int w = 0; w < place_.cast.workers; ++w) {
    const std::string text = receive_text(post(), place_.cast.process_of_worker(w), kText);
    std::vector<double> numbers(text.size() / sizeof(double));
    std::memcpy(numbers.data(), text.data(), text.size());
    const auto half = static_cast<std::ptrdiff_t>(numbers.size() / 2);
    losses.insert(losses.end(), numbers.begin(), numbers.begin() + half);
    corrects.insert(corrects.end(), numbers.begin() + half, numbers.end());
  }
  return whole_evaluation(set, losses, corrects);
}

// After an epoch, or after the last step of a run that ends within one.
void Helm::end_epoch(bool whole) {
  const std::int64_t start = base::now_ns();
  const std::int64_t epoch = whole ? progress_.epoch - 1 : progress_.epoch;
  const bool validates = place_.experiment.validation != nullptr;
  const Evaluation result = evaluate_on(validates);
  if (!std::isfinite(result.loss))
    stop_at_nan(validates ? "validation loss" : "test loss", result.loss, progress_.step, epoch + 1);
  seconds_.evaluation += base::seconds_since(start);
  const State state = collect();  // the last that needs others; what follows happens once
  progress_.train_loss = epoch_loss();
  progress_.train_accuracy = epoch_accuracy();
  const bool stop = early_stopping_.observe(has_accuracy() ? result.accuracy : result.loss);
  const bool best = early_stopping_.improved();
  if (whole) {
    progress_.early_stopping = early_stopping_.state();
    stopped_early_ = stop && patience_ > 0;
  }
  report_epoch(epoch, result, best);
  if (!validates) last_test_ = result;
  if (whole) {
    progress_.epoch_loss = progress_.epoch_correct = 0;
    progress_.epoch_samples = 0;
    ledger_.clear();
    ledger_parts_.clear();
    pushed_.clear();
    new_ledger_ = true;
  }
  checkpoint(state, best);
  epoch_start_ns_ = base::now_ns();
  epoch_start_seconds_ = seconds_.stretches;
  epoch_start_samples_ = samples_here_;
  if (stopped_early_) console_.line(fmt::format("stopped early: no better result for {} epochs", patience_));
}

data::Ledger Helm::ledger() const {
  data::Ledger all = ledger_;
  for (const auto& part : ledger_parts_)
    if (part) all.add(*part);
  return all;
}

void Helm::report_epoch(std::int64_t epoch, const Evaluation& result, bool best) {
  const double seconds = base::seconds_since(epoch_start_ns_);
  const bool validates = place_.experiment.validation != nullptr;
  const data::LedgerReport used = ledger().report();
  Json line{{"type", "epoch"},
            {"step", progress_.step},
            {"epoch", epoch},
            {"train_loss", number(progress_.train_loss)},
            {"train_accuracy", number(progress_.train_accuracy)},
            {validates ? "validation_loss" : "test_loss", number(result.loss)},
            {validates ? "validation_accuracy" : "test_accuracy", number(result.accuracy)},
            {"lr", lr_},
            {"strategy", plan().text},
            {"ledger",
             {{"samples", used.samples},
              {"used", used.used},
              {"once", used.once},
              {"missed", used.missed()},
              {"repeated", used.repeated},
              {"order", used.order}}},
            {"seconds", seconds}};
  if (!staleness_.empty())
    for (const auto& [pushes, count] : staleness_) line["staleness"][std::to_string(pushes)] = count;
  metrics_->write(line.dump());
  console_.epoch(
      {epoch, progress_.train_loss, progress_.train_accuracy, result.loss, result.accuracy, validates, lr_, seconds,
       static_cast<double>(samples_here_ - epoch_start_samples_) / (seconds_.stretches - epoch_start_seconds_), best});
}

void Helm::checkpoint(const State& state, bool best) {
  const std::int64_t start = base::now_ns();
  // A ReLU can hide a NaN from the loss; it must not reach a checkpoint.
  const auto bad = std::ranges::find_if(state.weights, [](float w) { return !std::isfinite(w); });
  if (bad != state.weights.end()) stop_at_nan("value of a weight", *bad, progress_.step, progress_.epoch + 1);
  progress_.seconds = seconds_before_ + base::seconds_since(start_ns_);
  store::Checkpoint c;
  c.progress = progress_.to_store();
  c.progress.extra["ledger"] = Json(ledger().text()).dump();
  c.space = &place_.space;
  c.weights = state.weights;
  const auto names = place_.optimizer->slot_names();
  for (std::size_t s = 0; s < state.slots.size(); ++s) c.slots.push_back({names[s], state.slots[s]});
  checkpoints_->save(c, best);
  seconds_.checkpoint += base::seconds_since(start);
  trace_.add("checkpoint", kHelmLane, start, base::now_ns());
}

RunDetails Helm::details() const {
  RunDetails d;
  d.workers = place_.cast.workers;
  d.servers = place_.cast.servers;
  d.seconds = lateness_->seconds();
  d.caused_waiting_seconds = lateness_->caused();
  for (int w = 0; w < d.workers; ++w) d.hosts.push_back(place_.hosts[at(place_.cast.process_of_worker(w))]);
  d.threads = place_.threads;
  for (const base::Range& share : shares_) d.oars.push_back(share.size());
  d.staleness = staleness_;
  d.synchronisations = synchronisations_;
  d.hand_overs = hand_overs_;
  d.lost = lost_;
  d.longest_hand_over_seconds = hand_over_seconds_;
  d.lateness = lateness_->sentence(seconds_.stretches);
  return d;
}

std::string Helm::finish() {
  seconds_.total = base::seconds_since(start_ns_);
  RunResult result;
  result.run = folder_->path().string();
  result.progress = progress_;
  result.test = last_test_ ? *last_test_ : evaluate_on(false);
  result.stopped_early = stopped_early_;
  result.weights_sha256 = place_.space.sha256(collect().weights.data());
  result.seconds = seconds_;
  result.details = details();
  gather_traffic(result.details);
  result.steps_here = progress_.step - start_step_;
  result.samples_here = samples_here_;
  std::string json = summary_json(place_.settings, place_.experiment, result);
  resources_.reset();
  std::error_code ignored;
  // A finished run that was resumed keeps what it has.
  if (result.steps_here > 0) {
    gather_traces();
    trace_.write(folder_->file("trace.json"));
  }
  if (result.steps_here > 0 || !base::fs::exists(folder_->file("summary.json"), ignored))
    base::write_text_atomically(folder_->file("summary.json"), Json::parse(json).dump(2) + "\n");
  print_summary(console_, result);
  if (place_.experiment.crew_options.profile && result.steps_here > 0 && place_.local.crew != nullptr) {
    const Experiment& e = place_.experiment;
    const observe::Profile profile = place_.local.crew->profile(place_.local.updater->cost());
    const crew::Peak peak = crew::measure_peak(e.threads, e.crew_options.cpus);
    base::write_text_atomically(folder_->file("profile.json"), Json::parse(profile_json(profile, peak)).dump(2) + "\n");
    console_.line("");
    for (const std::string& line : profile_lines(profile, peak)) console_.line(line);
  }
  return json;
}

// Before anything else is sent about the end.
void Helm::gather_traffic(RunDetails& details) {
  const strategy::Cast& cast = place_.cast;
  for (int w = 0; w < cast.workers; ++w) {
    send_text(post(), cast.process_of_worker(w), kOrder, R"({"do":"traffic"})");
    details.traffic.push_back(receive_traffic(post(), cast.process_of_worker(w)));
  }
  for (int s = 0; s < cast.servers; ++s) {
    const int process = cast.process_of_server(s);
    if (cast.worker_of(process) >= 0) continue;  // counted with the worker
    send_text(post(), process, kServerOrder, R"({"do":"traffic"})");
    details.server_traffic.push_back(receive_traffic(post(), process));
  }
}

void Helm::gather_traces() {
  for (int w = 0; w < place_.cast.workers; ++w) {
    const int process = place_.cast.process_of_worker(w);
    send_text(post(), process, kOrder, R"({"do":"trace"})");
    trace_.add_rank(process, fmt::format("worker {} on {}", w, place_.hosts[at(process)]),
                    receive_text(post(), process, kText), clock_ahead_ns_[at(w)]);
  }
}

// The first error is the one to report, even if the trace cannot be written either.
void Helm::keep_trace_of_failure() {
  if (!folder_ || ended_ < place_.cast.workers || start_ns_ == 0) return;
  try {
    gather_traces();
    trace_.write(folder_->file("trace.json"));
  } catch (const base::Error& error) {
    base::log_warn("{}", error.what());
  }
}

}  // namespace trireme::train
