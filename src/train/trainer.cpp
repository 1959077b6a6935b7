#include "train/trainer.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "crew/peak.h"
#include "data/ledger.h"
#include "data/loader.h"
#include "observe/resources.h"
#include "observe/trace.h"
#include "optim/schedule.h"
#include "train/interrupt.h"
#include "train/profile_report.h"
#include "train/resume.h"
#include "train/start_weights.h"
#include "train/summary.h"
#include "strategy/updater.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

// NaN has no JSON form; null stands for it.
Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

double seconds_between(std::int64_t start_ns, std::int64_t end_ns) {
  return 1e-9 * static_cast<double>(end_ns - start_ns);
}

constexpr int kStepLane = 0, kPhaseLane = 1;

class Trainer {
 public:
  // `known`: the normalisation of the run that is resumed.
  Trainer(const base::Settings& settings, const data::Normalization* known)
      : settings_(settings),
        e_(resolve(settings, known)),
        schedule_(optim::make_schedule(settings.text("schedule"))),
        console_(settings.flag("json") ? stderr : stdout, settings.flag("quiet")),
        patience_(settings.integer("early-stopping", 0, 1 << 20)),
        early_stopping_(std::max<std::int64_t>(1, patience_), 0,
                        has_accuracy() ? optim::Better::higher : optim::Better::lower) {
    // Everything that can be wrong with the settings is found before the folder is made.
    auto optimizer = optim::make_optimizer(settings.text("optimizer"));
    const double clip = settings.number("clip");
    if (clip < 0) base::user_error("{} is {}, expected 0 (none) or more", settings.label("clip"), clip);
    checkpoint_every_ = settings.integer("checkpoint-every", 0, 1LL << 40);
    keep_ = static_cast<int>(settings.integer("keep", 1, 1 << 20));
    e_.crew_options.trace = &trace_;
    e_.crew_options.profile = settings.flag("profile");
    ledger_ = data::Ledger(e_.train->size());
    crew_ = std::make_unique<crew::Crew>(e_.network, e_.crew_options);
    updater_ = std::make_unique<Updater>(*crew_, std::move(optimizer), clip);
    fill_fresh_weights(*crew_, settings.text("init"), e_.seed);
    progress_.total_steps = e_.total_steps;
    prints_ = run_fingerprint(*crew_, e_);
  }

  std::string run() {
    if (const std::string& resumed = settings_.text("resume"); resumed.empty())
      begin_new();
    else
      begin_resumed(resumed);
    open_records();
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
  bool is_over() const { return progress_.step >= e_.total_steps || stopped_early_; }
  std::span<float> weights() { return {crew_->weights(), static_cast<std::size_t>(crew_->space().floats())}; }
  double epoch_loss() const { return progress_.epoch_loss / static_cast<double>(progress_.epoch_samples); }
  double epoch_accuracy() const {
    return has_accuracy() ? progress_.epoch_correct / static_cast<double>(progress_.epoch_samples) : kUnknown;
  }

  void take_initial_weights() {
    if (const std::string& from = settings_.text("init-from"); !from.empty())
      e_.notes.push_back("starts with " + take_weights_from(*crew_, from));
  }

  void begin_new() {
    take_initial_weights();
    folder_ = RunFolder::create(settings_.text("run"), settings_.text("model"), settings_.text("data"));
    folder_->lock();
    checkpoints_.emplace(folder_->checkpoints(), keep_);
    try {
      write_run_json(*folder_, settings_, e_, prints_);
    } catch (const base::Error&) {
      folder_->remove_if_empty();
      throw;
    }
  }

  void begin_resumed(const std::string& run) {
    folder_ = RunFolder::open(run);
    folder_->lock();
    check_same_data(*folder_, e_);
    const std::string other_bits = check_same_kernels(*folder_, prints_, settings_.flag("allow-other-bits"));
    if (!other_bits.empty()) e_.notes.push_back(other_bits);
    checkpoints_.emplace(folder_->checkpoints(), keep_);
    if (const auto loaded = checkpoints_->latest_valid()) {
      restore_from(*loaded);
    } else {
      e_.notes.emplace_back("the run has no checkpoint yet: it starts from the beginning");
      take_initial_weights();
    }
    checkpoints_->drop_after(progress_.step);
    folder_->cut_metrics(progress_.step, progress_.position != 0 && !is_over());
    write_run_json(*folder_, settings_, e_, prints_);
    if (is_over()) return;
    std::error_code ignored;
    base::fs::remove(folder_->file("summary.json"), ignored);  // a run without one is not finished
  }

  void restore_from(const store::LoadedCheckpoint& loaded) {
    store::restore(loaded, crew_->space(), weights(), updater_->slot_buffers());
    crew_->refresh_weight_forms();
    progress_ = Progress::from_checkpoint(loaded);
    if (const auto kept = loaded.progress.extra.find("ledger"); kept != loaded.progress.extra.end())
      ledger_.restore(Json::parse(kept->second).get<std::string>());
    early_stopping_.restore(progress_.early_stopping);
    stopped_early_ = patience_ > 0 && progress_.early_stopping.bad_epochs >= patience_;
    e_.notes.push_back(fmt::format("resumed at step {} from {}", progress_.step, loaded.folder.string()));
    const std::string& schedule = schedule_->text();
    if (progress_.total_steps != e_.total_steps && (schedule.starts_with("cosine") || schedule.starts_with("onecycle")))
      e_.notes.push_back(
          fmt::format("the schedule '{}' now ends at step {} instead of {}; the bits are not those of one run",
                      schedule, e_.total_steps, progress_.total_steps));
    progress_.total_steps = e_.total_steps;
    if (is_over()) e_.notes.emplace_back("the run is finished; to go on, give more --epochs, --steps or patience");
  }

  void open_records() {
    metrics_.emplace(folder_->file("metrics.jsonl"));
    resources_.emplace(folder_->file("resources.jsonl"), 1.0, e_.cores.cpus);
    trace_.name_lane(kStepLane, "steps");
    trace_.name_lane(kPhaseLane, "phases");
    for (int member = 0; member < e_.threads; ++member)
      trace_.name_lane(crew::kFirstMemberLane + member, fmt::format("oars of thread {}", member));
  }

  // The first error is the one to report, even if the trace cannot be written either.
  void keep_trace_of_failure() const {
    try {
      trace_.write(folder_->file("trace.json"));
    } catch (const base::Error& error) {
      base::log_warn("{}", error.what());
    }
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
    start_ns_ = epoch_start_ns_ = base::now_ns();
    start_step_ = progress_.step;
    seconds_before_ = progress_.seconds;
    if (is_over()) return;
    data::LoaderOptions options;
    options.batch = e_.batch;
    options.drop_last = e_.drop_last;
    options.seed = e_.seed;
    options.start_epoch = progress_.epoch;
    options.start_position = progress_.position;
    options.cpus = e_.cores.cpus;
    options.distribution = e_.distribution;
    data::Loader loader(e_.train, options);
    while (!is_over()) {
      one_step(loader);
      const bool epoch_over = progress_.position == 0;
      if (epoch_over || is_over()) {
        end_epoch(epoch_over);
      } else if (interrupt.requested() || (checkpoint_every_ > 0 && progress_.step % checkpoint_every_ == 0)) {
        checkpoint(false);
      }
      if (interrupt.requested() && !is_over()) base::run_error("interrupted after step {}", progress_.step);
    }
  }

  void one_step(data::Loader& loader) {
    const std::int64_t start = base::now_ns();
    const data::Batch* batch = loader.next();
    base::check(batch != nullptr, "the loader ended at step {}", progress_.step);
    const std::int64_t loaded = base::now_ns();
    view_.samples = batch->samples;
    view_.target = batch->target.floats();
    view_.indices = std::span(batch->indices).first(static_cast<std::size_t>(batch->samples));
    view_.inputs.clear();
    for (const tensor::Buffer& input : batch->inputs) view_.inputs.push_back(input.floats());
    lr_ = schedule_->lr(updater_->optimizer().lr(), progress_.step, e_.steps_per_epoch, e_.total_steps);
    const Updater::Report step =
        updater_->step(view_, {e_.seed, static_cast<std::uint64_t>(batch->epoch)}, progress_.step + 1, lr_);
    const crew::RowReport& report = step.row;
    const double penalty = step.penalty;
    if (!std::isfinite(report.loss)) stop_at_nan("loss", report.loss, progress_.step + 1, batch->epoch + 1);
    const std::int64_t updated = base::now_ns();

    const auto samples = static_cast<double>(batch->samples);
    ledger_.use(batch->position, view_.indices);
    ++progress_.step;
    progress_.epoch_loss += report.loss + penalty * samples;
    progress_.epoch_correct += report.correct;
    progress_.epoch_samples += batch->samples;
    progress_.position += batch->samples;
    if (progress_.step % e_.steps_per_epoch == 0) {
      progress_.position = 0;
      ++progress_.epoch;
    }
    samples_here_ += batch->samples;
    const Seconds seconds{.load = seconds_between(start, loaded),
                          .forward = report.forward_seconds,
                          .backward = report.backward_seconds,
                          .update = report.update_seconds + step.update_seconds};
    seconds_.add_step(seconds);
    trace_step(start, loaded, updated, seconds);
    report_step(report.loss / samples + penalty, has_accuracy() ? report.correct / samples : kUnknown, batch->epoch,
                seconds);
  }

  // Before anything of it reaches a checkpoint.
  [[noreturn]] void stop_at_nan(const char* what, double value, std::int64_t step, std::int64_t epoch) const {
    const auto last = checkpoints_->latest();
    base::run_error("the {} became {} at step {} (epoch {}), {}; try a lower learning rate or --clip 1", what, value,
                    step, epoch,
                    last ? "the last good checkpoint is " + last->string() : "before the first checkpoint");
  }

  // Update overlaps backward; the phases are drawn one after the other with their share of the time.
  void trace_step(std::int64_t start, std::int64_t loaded, std::int64_t updated, const Seconds& seconds) {
    const auto after = [](std::int64_t from, double time) { return from + static_cast<std::int64_t>(time * 1e9); };
    const std::int64_t forward = after(loaded, seconds.forward), backward = after(forward, seconds.backward);
    trace_.add("step", kStepLane, start, updated);
    trace_.add("load", kPhaseLane, start, loaded);
    trace_.add("forward", kPhaseLane, loaded, forward);
    trace_.add("backward", kPhaseLane, forward, backward);
    trace_.add("update", kPhaseLane, backward, updated);
  }

  void report_step(double loss, double accuracy, std::int64_t epoch, const Seconds& s) {
    const Json line{{"type", "step"},
                    {"step", progress_.step},
                    {"epoch", epoch},
                    {"loss", number(loss)},
                    {"accuracy", number(accuracy)},
                    {"lr", lr_},
                    {"seconds",
                     {{"load", s.load},
                      {"forward", s.forward},
                      {"backward", s.backward},
                      {"network", s.network},
                      {"update", s.update}}}};
    metrics_->write(line.dump());
    const double passed = base::seconds_since(start_ns_);
    const auto steps = static_cast<double>(progress_.step - start_step_);
    console_.step({progress_.step, e_.total_steps, epoch, epoch_loss(), epoch_accuracy(),
                   static_cast<double>(samples_here_) / seconds_.training(),
                   passed / steps * static_cast<double>(e_.total_steps - progress_.step)});
  }

  // After an epoch, or after the last step of a run that ends within one.
  void end_epoch(bool whole) {
    const std::int64_t start = base::now_ns();
    const std::int64_t epoch = whole ? progress_.epoch - 1 : progress_.epoch;
    const Evaluation result = evaluate(*crew_, e_.validation ? *e_.validation : *e_.test);
    if (!std::isfinite(result.loss))
      stop_at_nan(e_.validation ? "validation loss" : "test loss", result.loss, progress_.step, epoch + 1);
    seconds_.evaluation += base::seconds_since(start);
    trace_.add("evaluate", kStepLane, start, base::now_ns());
    progress_.train_loss = epoch_loss();
    progress_.train_accuracy = epoch_accuracy();
    const bool stop = early_stopping_.observe(has_accuracy() ? result.accuracy : result.loss);
    const bool best = early_stopping_.improved();
    if (whole) {
      progress_.early_stopping = early_stopping_.state();
      stopped_early_ = stop && patience_ > 0;
    }
    report_epoch(epoch, result, best);
    if (!e_.validation) last_test_ = result;
    if (whole) {
      progress_.epoch_loss = progress_.epoch_correct = 0;
      progress_.epoch_samples = 0;
      ledger_.clear();
    }
    checkpoint(best);
    epoch_start_ns_ = base::now_ns();
    epoch_start_seconds_ = seconds_.training();
    epoch_start_samples_ = samples_here_;
    if (stopped_early_) console_.line(fmt::format("stopped early: no better result for {} epochs", patience_));
  }

  void report_epoch(std::int64_t epoch, const Evaluation& result, bool best) {
    const double seconds = base::seconds_since(epoch_start_ns_);
    const Json line{{"type", "epoch"},
                    {"step", progress_.step},
                    {"epoch", epoch},
                    {"train_loss", number(progress_.train_loss)},
                    {"train_accuracy", number(progress_.train_accuracy)},
                    {e_.validation ? "validation_loss" : "test_loss", number(result.loss)},
                    {e_.validation ? "validation_accuracy" : "test_accuracy", number(result.accuracy)},
                    {"lr", lr_},
                    {"ledger", ledger_json()},
                    {"seconds", seconds}};
    metrics_->write(line.dump());
    console_.epoch(
        {epoch, progress_.train_loss, progress_.train_accuracy, result.loss, result.accuracy, e_.validation != nullptr,
         lr_, seconds,
         static_cast<double>(samples_here_ - epoch_start_samples_) / (seconds_.training() - epoch_start_seconds_),
         best});
  }

  // What the epoch used of the training set.
  Json ledger_json() const {
    const data::LedgerReport used = ledger_.report();
    return {{"samples", used.samples}, {"used", used.used},         {"once", used.once},
            {"missed", used.missed()}, {"repeated", used.repeated}, {"order", used.order}};
  }

  void checkpoint(bool best) {
    const std::int64_t start = base::now_ns();
    // A ReLU can hide a NaN from the loss; it must not reach a checkpoint.
    const auto bad = std::find_if(weights().begin(), weights().end(), [](float w) { return !std::isfinite(w); });
    if (bad != weights().end()) stop_at_nan("value of a weight", *bad, progress_.step, progress_.epoch + 1);
    progress_.seconds = seconds_before_ + base::seconds_since(start_ns_);
    store::Checkpoint c;
    c.progress = progress_.to_store();
    c.progress.extra["ledger"] = Json(ledger_.text()).dump();
    c.space = &crew_->space();
    c.weights = weights();
    c.slots = updater_->slots();
    checkpoints_->save(c, best);
    seconds_.checkpoint += base::seconds_since(start);
    trace_.add("checkpoint", kStepLane, start, base::now_ns());
  }

  std::string finish() {
    seconds_.total = base::seconds_since(start_ns_);
    RunResult result;
    result.run = folder_->path().string();
    result.progress = progress_;
    result.test = last_test_ ? *last_test_ : evaluate(*crew_, *e_.test);
    result.stopped_early = stopped_early_;
    result.weights_sha256 = crew_->space().sha256(crew_->weights());
    result.seconds = seconds_;
    result.steps_here = progress_.step - start_step_;
    result.samples_here = samples_here_;
    std::string json = summary_json(settings_, e_, result);
    resources_.reset();
    std::error_code ignored;
    // A finished run that was resumed keeps what it has.
    if (result.steps_here > 0) trace_.write(folder_->file("trace.json"));
    if (result.steps_here > 0 || !base::fs::exists(folder_->file("summary.json"), ignored))
      base::write_text_atomically(folder_->file("summary.json"), Json::parse(json).dump(2) + "\n");
    print_summary(console_, result);
    if (e_.crew_options.profile && result.steps_here > 0) report_profile();
    return json;
  }

  void report_profile() {
    const observe::Profile profile = crew_->profile(updater_->cost());
    const crew::Peak peak = crew::measure_peak(e_.threads, e_.crew_options.cpus);
    base::write_text_atomically(folder_->file("profile.json"), Json::parse(profile_json(profile, peak)).dump(2) + "\n");
    console_.line("");
    for (const std::string& line : profile_lines(profile, peak)) console_.line(line);
  }

  base::Settings settings_;
  Experiment e_;
  std::unique_ptr<optim::Schedule> schedule_;
  Console console_;
  observe::Trace trace_;  // before the crew, which writes into it
  std::int64_t checkpoint_every_ = 0;
  int keep_ = 1;
  std::unique_ptr<crew::Crew> crew_;
  std::unique_ptr<Updater> updater_;
  std::vector<graph::KernelPrint> prints_;
  std::int64_t patience_;
  optim::EarlyStopping early_stopping_;
  std::optional<RunFolder> folder_;
  std::optional<store::CheckpointStore> checkpoints_;
  std::optional<base::LineWriter> metrics_;
  std::optional<observe::ResourceWatch> resources_;

  Progress progress_;
  data::Ledger ledger_{0};
  bool stopped_early_ = false;
  double lr_ = 0;
  std::optional<Evaluation> last_test_;
  crew::BatchView view_;

  // Of this process.
  Seconds seconds_;
  std::int64_t start_ns_ = 0, start_step_ = 0, samples_here_ = 0;
  std::int64_t epoch_start_ns_ = 0, epoch_start_samples_ = 0;
  double epoch_start_seconds_ = 0, seconds_before_ = 0;
};

}  // namespace

std::string train(const base::Settings& settings) {
  if (settings.text("resume").empty()) return Trainer(settings, nullptr).run();
  const base::Settings resumed = resumed_settings(settings);
  const data::Normalization normalization = stored_normalization(RunFolder::open(settings.text("resume")));
  return Trainer(resumed, &normalization).run();
}

}  // namespace trireme::train
