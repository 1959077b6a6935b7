#include "watch/formats/tensorboard_sink.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/error.h"
#include "base/match.h"
#include "base/system/clock.h"
#include "watch/formats/confusion_picture.h"
#include "watch/formats/event_files.h"

namespace trireme::watch {
namespace {

// Steps are shown at most this often; the curves of a small network would otherwise take gigabytes.
constexpr double kLeastSecondsBetweenSteps = 0.1;

// The numbers of a summary by which runs are compared.
constexpr std::array kResults{"test_accuracy", "test_loss",  "test_rmse",
                              "test_f1_micro", "train_loss", "samples_per_second"};

// The options that make a run what it is; the others say where it ran and what became of it.
std::map<std::string, std::string> hyperparameters(const base::Settings* settings) {
  std::map<std::string, std::string> chosen;
  if (settings == nullptr) return chosen;
  constexpr std::array<std::string_view, 4> kGroups{"What to train", "How long", "Learning", "How it runs"};
  for (const base::OptionSpec& option : settings->table())
    if (std::ranges::find(kGroups, option.group) != kGroups.end()) chosen[option.name] = settings->text(option.name);
  return chosen;
}

// A table in Markdown.
std::string table(const char* head, const std::map<std::string, std::string>& rows) {
  std::string text = fmt::format("| {} | value |\n|---|---|\n", head);
  for (const auto& [name, value] : rows) {
    text += "| " + name + " | ";
    for (const char letter : value) text += letter == '|' ? "\\|" : std::string(1, letter);
    text += " |\n";
  }
  return text;
}

// Collects values that are known.
class Values {
 public:
  void scalar(const std::string& tag, double value) {
    if (std::isfinite(value)) all_.push_back(scalar_value(tag, value));
  }
  void histogram(const std::string& tag, const observe::Histogram& histogram) {
    if (!histogram.counts.empty()) all_.push_back(histogram_value(tag, histogram));
  }
  const std::vector<ProtoMessage>& all() const { return all_; }

 private:
  std::vector<ProtoMessage> all_;
};

class TensorboardSink : public observe::EventSink {
 public:
  explicit TensorboardSink(const train::SinkContext& context)
      : folder_(context.folder / "tensorboard"), options_(hyperparameters(context.settings)) {}

  // A run that was interrupted, or has failed, ends without RunFinished.
  ~TensorboardSink() override {
    try {
      if (has_begun_ && !has_finished_) end_session(false);
    } catch (const base::Error&) {  // the recorder has warned of the same error, or will not be asked any more
    }
  }

  bool wants(const observe::Event& event) const override {
    return !std::holds_alternative<observe::PushDone>(event) && !std::holds_alternative<observe::SpansRecorded>(event);
  }

  void on(const observe::Event& event) override {
    if (!files_) files_.emplace(folder_);  // here, because a file that cannot be made must not stop the run
    std::visit(base::Match{[&](const observe::RunStarted& run) { begin(run); },
                           [&](const observe::StepDone& step) { show(step); },
                           [&](const observe::EpochDone& epoch) { show(epoch); },
                           [&](const observe::ResourcesUsed& used) { show(used.figures); },
                           [&](const observe::WorkersReport& report) { show(report); },
                           [&](const observe::LayerStatistics& layers) { show(layers); },
                           [&](const observe::ConfusionCounted& confusion) { show(confusion); },
                           [&](const observe::HandedOver& done) {
                             if (done.is_switch) note(done.step, "handed over to " + done.strategy);
                           },
                           [&](const observe::WorkerLost& lost) { note(lost.step, lost.who + " was lost"); },
                           [&](const observe::StoppedEarly& stopped) {
                             note(step_, fmt::format("stopped: no better result for {} epochs", stopped.patience));
                           },
                           [&](const observe::Diverged& diverged) {
                             note(diverged.step, fmt::format("the {} became {}", diverged.what, diverged.value));
                           },
                           [&](const observe::RolledBack& to) { go_back(to); },
                           [&](const observe::RunFinished& finished) { finish(finished); }, [](const auto&) {}},
               event);
  }

 private:
  void begin(const observe::RunStarted& run) {
    if (!has_begun_) files_->start_at(run.first_step);
    has_begun_ = true;
    step_ = std::max(step_, run.first_step);
    options_["batch"] = std::to_string(run.batch);
    options_["oars"] = std::to_string(run.oars);
    std::string notes = fmt::format("**{}** ({} parameters) on **{}**, {} workers, {} servers, strategy {}\n\n",
                                    run.model, run.parameters, run.data, run.workers, run.servers, run.strategy);
    for (const std::string& line : run.notes) notes += "- " + line + "\n";
    std::vector<std::string> metrics;
    for (const char* result : kResults) metrics.push_back(result_tag(result));
    const double now = base::unix_seconds();
    files_->add(0, {experiment_value(now, options_, metrics), session_start_value(now, run.folder, options_)});
    files_->add(run.first_step, {text_value("run/about", notes), text_value("run/options", table("option", options_))});
    files_->flush();
  }

  void show(const observe::StepDone& step) {
    step_ = std::max(step_, step.step);
    if (shown_ns_ != 0 && base::seconds_since(shown_ns_) < kLeastSecondsBetweenSteps) return;
    shown_ns_ = base::now_ns();
    Values values;
    values.scalar("train/loss", step.loss);
    values.scalar("train/accuracy", step.accuracy);
    values.scalar("train/lr", step.lr);
    values.scalar("train/samples_per_second", step.samples_per_second);
    for (const observe::StepTime& time : observe::kStepTimes)
      values.scalar(std::string("seconds/") + time.name, step.seconds.*time.seconds);
    files_->add(step.step, values.all());
  }

  void show(const observe::EpochDone& epoch) {
    Values values;
    values.scalar("epoch/train_loss", epoch.train_loss);
    values.scalar("epoch/train_accuracy", epoch.train_accuracy);
    values.scalar("epoch/samples_per_second", epoch.samples_per_second);
    const std::string set = epoch.is_validation ? "validation/" : "test/";
    values.scalar(set + "loss", epoch.held_out_loss);
    values.scalar(set + "accuracy", epoch.held_out_accuracy);
    for (const observe::Score& score : epoch.held_out_scores) values.scalar(set + score.name, score.value);
    files_->add(epoch.step, values.all());
    files_->flush();
  }

  void show(const observe::ResourceFigures& used) {
    const double period = std::max(used.period_seconds, 1e-3);
    Values values;
    if (used.rank == observe::ResourceFigures::kHost) {
      const std::string host = "host " + used.host + "/";
      if (used.cores > 0) values.scalar(host + "cpu_share", used.cpu / used.cores);
      values.scalar(host + "memory_bytes", used.memory_bytes);
      values.scalar(host + "network_received_bytes_per_second", used.network_received_bytes / period);
      values.scalar(host + "network_sent_bytes_per_second", used.network_sent_bytes / period);
    } else {
      const std::string process = fmt::format("process {}/", used.rank);
      values.scalar(process + "cpu_cores", used.cpu);
      values.scalar(process + "resident_bytes", used.memory_bytes);
    }
    files_->add(step_, values.all());
  }

  // Shares of the time, so that the bars of all workers have one height.
  void show(const observe::WorkersReport& report) {
    if (report.seconds <= 0) return;
    Values values;
    for (const observe::WorkerActivity& worker : report.workers) {
      const std::string name = fmt::format("worker {}/", worker.worker);
      for (const observe::StepTime& time : observe::kStepTimes)
        values.scalar(name + time.name + "_share", worker.seconds.*time.seconds / report.seconds);
      values.scalar(name + "caused_waiting_share", worker.caused_seconds / report.seconds);
      values.scalar(name + "clock", static_cast<double>(worker.clock));
    }
    files_->add(report.step, values.all());
  }

  void show(const observe::LayerStatistics& layers) {
    Values values;
    for (const observe::LayerStatistics::Parameter& each : layers.parameters) {
      values.scalar("norm of weights/" + each.name, each.weights);
      values.scalar("norm of gradients/" + each.name, each.gradients);
      values.scalar("norm of updates/" + each.name, each.updates);
      values.histogram("weights/" + each.name, each.weight_values);
      values.histogram("gradients/" + each.name, each.gradient_values);
    }
    files_->add(layers.step, values.all());
  }

  void show(const observe::ConfusionCounted& confusion) {
    const ConfusionPicture picture = draw_confusion(confusion);
    if (picture.png.empty()) return;
    files_->add(confusion.step, {image_value(confusion.is_validation ? "validation/confusion" : "test/confusion",
                                             picture.side, picture.side, picture.png)});
  }

  void note(std::int64_t step, const std::string& sentence) {
    files_->add(step, {text_value("run/events", sentence)});
    files_->flush();
  }

  // The end of an epoch that is withdrawn has the step itself, and the step's own values go with it.
  void go_back(const observe::RolledBack& to) {
    files_->start_at(to.is_within_epoch ? to.step : to.step + 1);
    has_begun_ = true;
    step_ = to.step;
    shown_ns_ = 0;
    if (!to.is_resume) note(to.step, fmt::format("rolled back to step {}", to.step));
  }

  void finish(const observe::RunFinished& finished) {
    Values values;
    if (finished.steps_here > 0) {
      const auto summary = nlohmann::json::parse(finished.summary, nullptr, false);
      for (const char* result : kResults)
        if (summary.is_object() && summary.contains(result) && summary[result].is_number())
          values.scalar(result_tag(result), summary[result].get<double>());
    }
    files_->add(step_, values.all());
    has_finished_ = true;
    end_session(true);
  }

  void end_session(bool is_success) {
    files_->add(0, {session_end_value(base::unix_seconds(), is_success)});
    files_->flush();
  }

  static std::string result_tag(const char* result) { return std::string("summary/") + result; }

  base::fs::path folder_;
  std::optional<EventFiles> files_;
  std::map<std::string, std::string> options_;
  bool has_begun_ = false, has_finished_ = false;
  std::int64_t step_ = 0;      // the newest
  std::int64_t shown_ns_ = 0;  // when a step was shown last; 0: never
};

}  // namespace

std::unique_ptr<observe::EventSink> make_tensorboard_sink(const train::SinkContext& context) {
  if (context.settings == nullptr || !context.settings->flag("tensorboard")) return nullptr;
  return std::make_unique<TensorboardSink>(context);
}

std::vector<train::SinkRow> format_sinks() {
  return {{"tensorboard", "tensorboard/: event files for TensorBoard, with --tensorboard", make_tensorboard_sink}};
}

}  // namespace trireme::watch
