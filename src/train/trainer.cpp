#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "base/text.h"
#include "data/loader.h"
#include "observe/resources.h"
#include "observe/trace.h"
#include "optim/early_stopping.h"
#include "optim/schedule.h"
#include "train/console.h"
#include "train/evaluate.h"
#include "train/experiment.h"
#include "train/interrupt.h"
#include "train/run_folder.h"
#include "train/start_weights.h"
#include "train/updater.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

// NaN has no JSON form; null stands for it.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

// Where the seconds went.
struct Seconds {
  double load = 0, forward = 0, backward = 0, network = 0, update = 0, evaluation = 0, checkpoint = 0;
  void add(const Seconds& o) {
    load += o.load;
    forward += o.forward;
    backward += o.backward;
    network += o.network;
    update += o.update;
  }
  double training() const { return load + forward + backward + network + update; }
  Json json() const {
    return {{"load", load}, {"forward", forward}, {"backward", backward}, {"network", network}, {"update", update}};
  }
};

// What has been summed of the epoch under way; part of every checkpoint, so that a resumed epoch reports the same.
struct EpochSums {
  double loss = 0, correct = 0;
  std::int64_t samples = 0;
  double mean_loss() const { return loss / static_cast<double>(samples); }
  double accuracy(bool known) const {
    return known ? correct / static_cast<double>(samples) : std::numeric_limits<double>::quiet_NaN();
  }
};

// What may be changed when a run is resumed: nothing that makes bits.
bool free_on_resume(const std::string& name) {
  for (const char* free : {"resume", "threads", "pin", "data-dir", "epochs", "steps", "checkpoint-every", "keep",
                           "json", "quiet", "early-stopping", "allow-other-bits"})
    if (name == free) return true;
  return false;
}

base::Settings with_resumed_run(const base::Settings& given) {
  if (given.is_set("run"))
    base::user_error("--run and --resume exclude each other: a resumed run goes on in its folder");
  base::Settings settings = settings_of_run(given.text("resume"));
  for (const auto& [name, value] : given.given()) {
    if (!free_on_resume(name) && settings.text(name) != value)
      base::user_error("--{} cannot change when a run is resumed: it was '{}', now '{}'", name, settings.text(name),
                       value);
    settings.set(name, value);
  }
  if (given.is_set("epochs") && !given.is_set("steps")) settings.set("steps", "0");  // the newer wish counts
  return settings;
}

class Trainer {
 public:
  explicit Trainer(const base::Settings& settings)
      : settings_(settings),
        e_(resolve(settings)),
        schedule_(optim::make_schedule(settings.text("schedule"))),
        console_(settings.flag("json") ? stderr : stdout, settings.flag("quiet")),
        patience_(settings.integer("early-stopping", 0, 1 << 20)),
        early_stopping_(std::max<std::int64_t>(1, patience_), 0,
                        has_accuracy() ? optim::Better::higher : optim::Better::lower) {
    // Everything that can be wrong with the settings is found before the folder is made.
    auto optimizer = optim::make_optimizer(settings.text("optimizer"));
    const double clip = settings.number("clip");
    if (clip < 0) base::user_error("--clip is {}, expected 0 (none) or more", clip);
    checkpoint_every_ = settings.integer("checkpoint-every", 0, 1LL << 40);
    keep_ = static_cast<int>(settings.integer("keep", 1, 1 << 20));
    e_.crew_options.trace = &trace_;
    crew_ = std::make_unique<crew::Crew>(e_.network, e_.crew_options);
    updater_ = std::make_unique<Updater>(*crew_, std::move(optimizer), clip);
    fill_fresh_weights(*crew_, settings.text("init"), e_.seed);
    const std::string& from = settings.text("init-from");
    if (!from.empty() && settings.text("resume").empty())
      e_.notes.push_back("starts with " + take_weights_from(*crew_, from));
  }

  TrainSummary run() {
    open_folder();
    say_hello();
    try {
      loop();
      return finish();
    } catch (const base::Error& error) {
      keep_trace_of_failure();
      if (error.kind() != base::ErrorKind::run) throw;
      base::run_error("{}; go on with: trireme train --resume {}", error.what(), folder_->path().string());
    }
  }

 private:
  bool has_accuracy() const { return e_.train->spec().target != data::TargetKind::values; }

  void open_folder() {
    const std::vector<graph::KernelPrint> prints = fingerprints();
    const std::string& resumed = settings_.text("resume");
    if (!resumed.empty()) {
      folder_ = RunFolder::open(resumed);
      compare_fingerprints(stored_fingerprint(*folder_), prints);
      checkpoints_.emplace(folder_->checkpoints(), keep_);
      if (const auto loaded = checkpoints_->latest_valid())
        restore_from(*loaded);
      else
        e_.notes.emplace_back("the run has no checkpoint yet: it starts from the beginning");
      folder_->cut_metrics(step_);
    } else {
      folder_ = RunFolder::create(settings_.text("run"), settings_.text("model"), settings_.text("data"));
      checkpoints_.emplace(folder_->checkpoints(), keep_);
    }
    try {
      write_run_json(*folder_, settings_, e_, prints);
    } catch (const base::Error&) {
      folder_->remove_if_empty();
      throw;
    }
    metrics_.emplace(folder_->file("metrics.jsonl"));
    resources_.emplace(folder_->file("resources.jsonl"));
    trace_.name_lane(0, "steps");
    trace_.name_lane(1, "phases");
    for (int member = 0; member < e_.threads; ++member)
      trace_.name_lane(crew::kFirstMemberLane + member, fmt::format("oars of thread {}", member));
  }

  // Of every oar size the run may row: those of the full batch and of an epoch's shorter last one.
  std::vector<graph::KernelPrint> fingerprints() {
    std::set<std::int64_t> sizes;
    const std::int64_t last = e_.train->size() % e_.batch;
    for (const std::int64_t samples : {e_.batch, e_.drop_last ? 0 : last})
      for (const std::int64_t size : crew_->oar_sizes(samples)) sizes.insert(size);
    std::vector<graph::KernelPrint> prints;
    for (const std::int64_t size : sizes)
      for (auto& print : graph::fingerprint(crew_->program(size, true))) prints.push_back(std::move(print));
    return prints;
  }

  // A kernel that gives other results here than where the run began would silently change its bits.
  void compare_fingerprints(const std::vector<graph::KernelPrint>& before, const std::vector<graph::KernelPrint>& now) {
    for (const graph::KernelPrint& print : now) {
      const auto same = [&](const graph::KernelPrint& old) {
        return old.kernel == print.kernel && old.hash == print.hash;
      };
      if (std::any_of(before.begin(), before.end(), same)) continue;
      if (!settings_.flag("allow-other-bits"))
        base::user_error(
            "this machine computes '{}' with other bits than the run had so far; resume it where it began, or "
            "accept other bits with --allow-other-bits",
            print.kernel);
      e_.notes.push_back(
          fmt::format("from here on with other bits than a run on one kind of machine: '{}' differs", print.kernel));
      return;
    }
  }

  // The first error is the one to report, even if the trace cannot be written either.
  void keep_trace_of_failure() const {
    try {
      trace_.write(folder_->file("trace.json"));
    } catch (const base::Error& error) {
      base::log_warn("{}", error.what());
    }
  }

  void restore_from(const store::LoadedCheckpoint& loaded) {
    store::restore(loaded, crew_->space(), {crew_->weights(), static_cast<std::size_t>(crew_->space().floats())},
                   updater_->slot_buffers());
    crew_->refresh_weight_forms();
    step_ = loaded.progress.step;
    epoch_ = loaded.progress.epoch;
    position_ = loaded.progress.position;
    const Json state = Json::parse(loaded.progress.extra.at("train"));
    sums_ = {state["epoch_loss"], state["epoch_correct"], state["epoch_samples"]};
    seconds_before_ = state["seconds"];
    optim::EarlyStopping::State early;
    if (!state["best"].is_null()) early.best = state["best"].get<double>();
    early.bad_epochs = state["bad_epochs"];
    early_stopping_.restore(early);
    stopped_early_ = patience_ > 0 && early.bad_epochs >= patience_;
    if (!state["last_train_loss"].is_null())
      last_ = {state["last_train_loss"], state["last_train_accuracy"].is_null()
                                             ? std::numeric_limits<double>::quiet_NaN()
                                             : state["last_train_accuracy"].get<double>()};
    e_.notes.push_back(fmt::format("resumed at step {} from {}", step_, loaded.folder.string()));
    const std::string& schedule = schedule_->text();
    if (state["total_steps"] != e_.total_steps && (schedule.starts_with("cosine") || schedule.starts_with("onecycle")))
      e_.notes.push_back(
          fmt::format("the schedule '{}' now ends at step {} instead of {}; the bits are not those of one run",
                      schedule, e_.total_steps, state["total_steps"].get<std::int64_t>()));
    if (step_ >= e_.total_steps || stopped_early_)
      e_.notes.push_back("the run is finished; to go on, give more --epochs, --steps or patience");
  }

  void say_hello() {
    console_.line(fmt::format("{} ({} parameters) on {}: {} training, {} test samples", settings_.text("model"),
                              e_.network.parameter_count(), settings_.text("data"), e_.train->size(), e_.test->size()));
    const auto count = [](std::int64_t n, const char* what) {
      return fmt::format("{} {}{}", n, what, n == 1 ? "" : "s");
    };
    console_.line(fmt::format("batch {} in {} on {}, {} an epoch, {} in all; run folder {}", e_.batch,
                              count(e_.oars, "oar"), count(e_.threads, "thread"), count(e_.steps_per_epoch, "step"),
                              count(e_.total_steps, "step"), folder_->path().string()));
    for (const std::string& note : e_.notes) console_.line("note: " + note);
  }

  void loop() {
    const InterruptWatch interrupt;
    data::LoaderOptions options;
    options.batch = e_.batch;
    options.drop_last = e_.drop_last;
    options.seed = e_.seed;
    options.start_epoch = epoch_;
    options.start_position = position_;
    options.cpus = e_.cores.cpus;
    data::Loader loader(e_.train, options);
    start_ns_ = epoch_start_ns_ = base::now_ns();
    start_step_ = step_;
    while (step_ < e_.total_steps && !stopped_early_) {
      one_step(loader);
      const bool epoch_over = position_ == 0;
      if (epoch_over || step_ == e_.total_steps) end_epoch(epoch_over);
      const bool due = checkpoint_every_ > 0 && step_ % checkpoint_every_ == 0 && !epoch_over;
      if (due && step_ < e_.total_steps) checkpoint(false);
      if (interrupt.requested()) {
        if (!due && !epoch_over) checkpoint(false);
        base::run_error("interrupted after step {}", step_);
      }
    }
  }

  void one_step(data::Loader& loader) {
    const std::int64_t start = base::now_ns();
    const data::Batch* batch = loader.next();
    base::check(batch != nullptr, "the loader ended at step {}", step_);
    const std::int64_t loaded = base::now_ns();
    crew::BatchView view{batch->samples, {}, batch->target.floats(), std::span(batch->indices)};
    for (const tensor::Buffer& input : batch->inputs) view.inputs.push_back(input.floats());
    view.indices = view.indices.first(static_cast<std::size_t>(batch->samples));
    const auto epoch = static_cast<std::uint64_t>(batch->epoch);
    const crew::RowReport report = crew_->row(view, {e_.seed, epoch});
    if (!std::isfinite(report.loss)) stop_at_nan("loss", report.loss, step_ + 1, batch->epoch + 1);
    const std::int64_t rowed = base::now_ns();
    lr_ = schedule_->lr(updater_->optimizer().lr(), step_, e_.steps_per_epoch, e_.total_steps);
    const double penalty = updater_->update(step_ + 1, lr_);
    const std::int64_t updated = base::now_ns();

    ++step_;
    const auto samples = static_cast<double>(batch->samples);
    sums_.loss += report.loss + penalty * samples;
    sums_.correct += report.correct;
    sums_.samples += batch->samples;
    position_ += batch->samples;
    if (step_ % e_.steps_per_epoch == 0) {
      position_ = 0;
      ++epoch_;
    }
    samples_done_ += batch->samples;
    const Seconds seconds{.load = 1e-9 * static_cast<double>(loaded - start),
                          .forward = report.forward_seconds,
                          .backward = report.backward_seconds,
                          .network = 0,
                          .update = 1e-9 * static_cast<double>(updated - rowed)};
    seconds_.add(seconds);
    trace_step(start, loaded, rowed, updated, report);
    report_step(report.loss / samples + penalty, report.correct / samples, batch->epoch, seconds);
  }

  // Before anything of it reaches the weights or a checkpoint.
  [[noreturn]] void stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) const {
    const auto last = checkpoints_->latest();
    base::run_error("the {} became {} at step {} (epoch {}), {}; try a lower learning rate or --clip 1", what, value,
                    step, epoch,
                    last ? "the last good checkpoint is " + last->string() : "before the first checkpoint");
  }

  void trace_step(std::int64_t start, std::int64_t loaded, std::int64_t rowed, std::int64_t updated,
                  const crew::RowReport& report) {
    trace_.add("step", 0, start, updated);
    const auto middle = loaded + static_cast<std::int64_t>(report.forward_seconds * 1e9);
    trace_.add("load", 1, start, loaded);
    trace_.add("forward", 1, loaded, middle);
    trace_.add("backward", 1, middle, rowed);
    trace_.add("update", 1, rowed, updated);
  }

  void report_step(double loss, double accuracy, std::int64_t epoch, const Seconds& seconds) {
    if (!has_accuracy()) accuracy = std::numeric_limits<double>::quiet_NaN();
    const Json line{{"type", "step"},
                    {"step", step_},
                    {"epoch", epoch},
                    {"loss", number(loss)},
                    {"accuracy", number(accuracy)},
                    {"lr", lr_},
                    {"seconds", seconds.json()}};
    metrics_->write(line.dump());
    const double passed = base::seconds_since(start_ns_);
    const auto steps = static_cast<double>(step_ - start_step_);
    console_.step({step_, e_.total_steps, epoch, sums_.samples ? sums_.mean_loss() : loss,
                   sums_.samples ? sums_.accuracy(has_accuracy()) : accuracy,
                   static_cast<double>(samples_done_) / passed,
                   passed / steps * static_cast<double>(e_.total_steps - step_)});
  }

  // After an epoch, or the last step of a run that ends within one.
  void end_epoch(bool whole) {
    const std::int64_t start = base::now_ns();
    const data::Dataset& held_out = e_.validation ? *e_.validation : *e_.test;
    const Evaluation result = evaluate(*crew_, held_out);
    if (!std::isfinite(result.loss))
      stop_at_nan(e_.validation ? "validation loss" : "test loss", result.loss, step_, whole ? epoch_ : epoch_ + 1);
    seconds_.evaluation += base::seconds_since(start);
    trace_.add("evaluate", 0, start, base::now_ns());
    last_ = {sums_.mean_loss(), sums_.accuracy(has_accuracy())};
    const bool stop = early_stopping_.observe(has_accuracy() ? result.accuracy : result.loss);
    stopped_early_ = stop && patience_ > 0;
    const double seconds = base::seconds_since(epoch_start_ns_);
    const double training = seconds_.training() - epoch_start_seconds_;
    const std::int64_t epoch = whole ? epoch_ - 1 : epoch_;
    const Json line{{"type", "epoch"},
                    {"step", step_},
                    {"epoch", epoch},
                    {"train_loss", number(last_.loss)},
                    {"train_accuracy", number(last_.accuracy)},
                    {e_.validation ? "validation_loss" : "test_loss", number(result.loss)},
                    {e_.validation ? "validation_accuracy" : "test_accuracy", number(result.accuracy)},
                    {"lr", lr_},
                    {"seconds", seconds}};
    metrics_->write(line.dump());
    console_.epoch({epoch, last_.loss, last_.accuracy, result.loss, result.accuracy, e_.validation != nullptr, lr_,
                    seconds, static_cast<double>(samples_done_ - epoch_start_samples_) / training,
                    early_stopping_.improved()});
    held_out_ = result;
    if (whole) sums_ = {};
    checkpoint(early_stopping_.improved());
    epoch_start_ns_ = base::now_ns();
    epoch_start_seconds_ = seconds_.training();
    epoch_start_samples_ = samples_done_;
    if (stopped_early_)
      console_.line(fmt::format("stopped early: no better result for {} epochs", settings_.text("early-stopping")));
  }

  void checkpoint(bool best) {
    const std::int64_t start = base::now_ns();
    const std::span<const float> weights{crew_->weights(), static_cast<std::size_t>(crew_->space().floats())};
    // A ReLU can hide a NaN from the loss; it must not reach a checkpoint.
    if (!std::all_of(weights.begin(), weights.end(), [](float w) { return std::isfinite(w); }))
      base::run_error("some weights are no numbers any more after step {}; try a lower learning rate or --clip 1",
                      step_);
    store::Checkpoint c;
    c.progress = {step_, epoch_, position_, {}};
    const auto& early = early_stopping_.state();
    const Json state{{"epoch_loss", sums_.loss},
                     {"epoch_correct", sums_.correct},
                     {"epoch_samples", sums_.samples},
                     {"seconds", seconds_before_ + base::seconds_since(start_ns_)},
                     {"best", early.best ? Json(*early.best) : Json(nullptr)},
                     {"bad_epochs", early.bad_epochs},
                     {"total_steps", e_.total_steps},
                     {"last_train_loss", number(last_.loss)},
                     {"last_train_accuracy", number(last_.accuracy)}};
    c.progress.extra["train"] = state.dump();
    c.space = &crew_->space();
    c.weights = weights;
    c.slots = updater_->slots();
    checkpoints_->save(c, best);
    seconds_.checkpoint += base::seconds_since(start);
    trace_.add("checkpoint", 0, start, base::now_ns());
  }

  TrainSummary finish() {
    const double total = base::seconds_since(start_ns_);
    const Evaluation test = e_.validation || !held_out_ ? evaluate(*crew_, *e_.test) : *held_out_;
    const double rate = samples_done_ > 0 ? static_cast<double>(samples_done_) / seconds_.training() : 0;
    TrainSummary summary{settings_.text("model"),
                         settings_.text("data"),
                         folder_->path().string(),
                         {},
                         test.accuracy,
                         last_.loss,
                         crew_->space().sha256(crew_->weights())};
    Json seconds = seconds_.json();
    seconds["total"] = total;
    seconds["evaluation"] = seconds_.evaluation;
    seconds["checkpoint"] = seconds_.checkpoint;
    const Json json{{"model", summary.model},
                    {"data", summary.data},
                    {"strategy", settings_.text("strategy")},
                    {"run", summary.run},
                    {"steps", step_},
                    {"epochs", epoch_},
                    {"batch", e_.batch},
                    {"oars", e_.oars},
                    {"threads", e_.threads},
                    {"world", 1},
                    {"parameters", e_.network.parameter_count()},
                    {"train_loss", number(last_.loss)},
                    {"train_accuracy", number(last_.accuracy)},
                    {"test_loss", number(test.loss)},
                    {"test_accuracy", number(test.accuracy)},
                    {"stopped_early", stopped_early_},
                    {"weights_sha256", summary.weights_sha256},
                    {"samples_per_second", rate},
                    {"seconds", seconds},
                    {"peak_memory_bytes", static_cast<std::int64_t>(observe::peak_resident_bytes())}};
    summary.json = json.dump();
    resources_.reset();
    if (step_ > start_step_) {  // a finished run that was resumed keeps what it has
      trace_.write(folder_->file("trace.json"));
      base::write_text_atomically(folder_->file("summary.json"), json.dump(2) + "\n");
    }
    print_summary(test, total, rate, summary);
    return summary;
  }

  void print_summary(const Evaluation& test, double total, double rate, const TrainSummary& summary) {
    const auto share = [&](const char* name, double seconds) {
      return fmt::format("  {:<11}{:>10}  {:>5.1f} %", name, base::human_seconds(seconds),
                         total > 0 ? 100 * seconds / total : 0);
    };
    console_.line("");
    if (has_accuracy())
      console_.line(fmt::format("test accuracy  {:.2f} %  (loss {:.4f})", 100 * test.accuracy, test.loss));
    else
      console_.line(fmt::format("test loss  {:.6f}", test.loss));
    if (step_ == start_step_) return;
    console_.line(fmt::format("{:.0f} samples/s over {} steps; the time went to", rate, step_ - start_step_));
    for (const auto& [name, seconds] : {std::pair{"load", seconds_.load},
                                        {"forward", seconds_.forward},
                                        {"backward", seconds_.backward},
                                        {"network", seconds_.network},
                                        {"update", seconds_.update},
                                        {"evaluation", seconds_.evaluation},
                                        {"checkpoint", seconds_.checkpoint},
                                        {"total", total}})
      console_.line(share(name, seconds));
    console_.line(fmt::format("weights {}", summary.weights_sha256));
    console_.line(fmt::format("run folder {}", summary.run));
  }

  struct EpochResult {
    double loss = std::numeric_limits<double>::quiet_NaN();
    double accuracy = std::numeric_limits<double>::quiet_NaN();
  };

  base::Settings settings_;
  Experiment e_;
  std::unique_ptr<optim::Schedule> schedule_;
  Console console_;
  observe::Trace trace_;  // before the crew, which writes into it
  std::int64_t checkpoint_every_ = 0;
  int keep_ = 1;
  std::unique_ptr<crew::Crew> crew_;
  std::unique_ptr<Updater> updater_;
  std::int64_t patience_;
  optim::EarlyStopping early_stopping_;
  std::optional<RunFolder> folder_;
  std::optional<store::CheckpointStore> checkpoints_;
  std::optional<base::LineWriter> metrics_;
  std::optional<observe::ResourceWatch> resources_;

  std::int64_t step_ = 0, epoch_ = 0, position_ = 0;  // done so far
  std::int64_t start_step_ = 0, samples_done_ = 0;    // in this process
  std::int64_t start_ns_ = 0, epoch_start_ns_ = 0, epoch_start_samples_ = 0;
  double epoch_start_seconds_ = 0;
  double seconds_before_ = 0;  // of the processes before this one
  double lr_ = 0;
  bool stopped_early_ = false;
  Seconds seconds_;
  EpochSums sums_;
  EpochResult last_;
  std::optional<Evaluation> held_out_;
};

}  // namespace

TrainSummary train(base::Settings settings) {
  if (!settings.text("resume").empty()) settings = with_resumed_run(settings);
  return Trainer(settings).run();
}

}  // namespace trireme::train
