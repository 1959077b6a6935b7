// The sink of metrics.jsonl, see docs/run_folder.md. Every line is written to the file before the next event is taken.
#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <type_traits>

#include "base/system/clock.h"
#include "base/system/files.h"
#include "train/results/finite_number.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

using OrderedJson = nlohmann::ordered_json;

OrderedJson json_of(const observe::StepSeconds& seconds) {
  OrderedJson times;
  for (const observe::StepTime& time : observe::kStepTimes) times[time.name] = seconds.*time.seconds;
  return times;
}

// The moment of an event that may be delivered later.
std::int64_t moment_of(const auto& event) { return event.time_ns == 0 ? base::now_ns() : event.time_ns; }

OrderedJson metrics_line(const observe::StepDone& step) {
  return {{"type", "step"},
          {"step", step.step},
          {"epoch", step.epoch},
          {"loss", finite_number<OrderedJson>(step.loss)},
          {"accuracy", finite_number<OrderedJson>(step.accuracy)},
          {"lr", step.lr},
          {"seconds", json_of(step.seconds)},
          {"time", base::unix_seconds(moment_of(step))}};
}

OrderedJson metrics_line(const observe::PushDone& push) {
  return {{"type", "push"},
          {"step", push.step},
          {push.is_group ? "group" : "worker", push.pusher},
          {"clock", push.clock},
          {"slowest", push.has_bound ? OrderedJson(push.slowest) : OrderedJson(nullptr)},
          {"time", base::unix_seconds(moment_of(push))}};
}

OrderedJson metrics_line(const observe::EpochDone& epoch) {
  const observe::SamplesUsed& used = epoch.samples_used;
  OrderedJson line{
      {"type", "epoch"},
      {"step", epoch.step},
      {"epoch", epoch.epoch},
      {"train_loss", finite_number<OrderedJson>(epoch.train_loss)},
      {"train_accuracy", finite_number<OrderedJson>(epoch.train_accuracy)},
      {epoch.is_validation ? "validation_loss" : "test_loss", finite_number<OrderedJson>(epoch.held_out_loss)},
      {epoch.is_validation ? "validation_accuracy" : "test_accuracy",
       finite_number<OrderedJson>(epoch.held_out_accuracy)},
      {"lr", epoch.lr},
      {"strategy", epoch.strategy},
      {"ledger",
       {{"samples", used.samples},
        {"used", used.used},
        {"once", used.once},
        {"missed", used.missed},
        {"repeated", used.repeated},
        {"order", used.order}}},
      {"seconds", epoch.seconds}};
  for (const observe::Score& score : epoch.held_out_scores)
    line[(epoch.is_validation ? "validation_" : "test_") + score.name] = finite_number<OrderedJson>(score.value);
  for (const auto& [pushes, count] : epoch.staleness) line["staleness"][std::to_string(pushes)] = count;
  return line;
}

OrderedJson metrics_line(const observe::WorkersReport& report) {
  OrderedJson workers = OrderedJson::array();
  for (const observe::WorkerActivity& worker : report.workers) {
    const bool has_oars = worker.end_oar > worker.first_oar;
    workers.push_back({{"worker", worker.worker},
                       {"host", worker.host},
                       {"seconds", json_of(worker.seconds)},
                       {"steps", worker.steps},
                       {"caused_seconds", worker.caused_seconds},
                       {"oars", has_oars ? OrderedJson::array({worker.first_oar, worker.end_oar}) : OrderedJson()},
                       {"clock", worker.clock}});
  }
  return {{"type", "workers"},
          {"step", report.step},
          {"seconds", report.seconds},
          {"lateness", report.lateness},
          {"workers", std::move(workers)}};
}

OrderedJson metrics_line(const observe::HandedOver& moved) {
  return {{"type", "hand_over"},          {"step", moved.step},
          {"strategy", moved.strategy},   {"seconds", 1e-9 * static_cast<double>(moved.end_ns - moved.start_ns)},
          {"is_switch", moved.is_switch}, {"time", base::unix_seconds(moved.end_ns)}};
}

OrderedJson metrics_line(const observe::CheckpointWritten& written) {
  return {{"type", "checkpoint"},
          {"step", written.step},
          {"seconds", 1e-9 * static_cast<double>(written.end_ns - written.start_ns)},
          {"is_best", written.is_best},
          {"time", base::unix_seconds(written.end_ns)}};
}

OrderedJson metrics_line(const observe::ConfusionCounted& counted) {
  OrderedJson rows = OrderedJson::array();
  const auto classes = static_cast<std::ptrdiff_t>(counted.classes.size());
  for (auto row = counted.counts.begin(); row != counted.counts.end(); row += classes)
    rows.push_back(std::vector<std::int64_t>(row, row + classes));
  return {{"type", "confusion"},        {"step", counted.step},
          {"epoch", counted.epoch},     {"is_validation", counted.is_validation},
          {"classes", counted.classes}, {"counts", std::move(rows)}};
}

OrderedJson histogram_json(const observe::Histogram& histogram) {
  if (histogram.counts.empty()) return nullptr;
  return {{"low", histogram.low}, {"high", histogram.high}, {"counts", histogram.counts}};
}

OrderedJson metrics_line(const observe::LayerStatistics& layers) {
  OrderedJson parameters = OrderedJson::array();
  for (const observe::LayerStatistics::Parameter& each : layers.parameters)
    parameters.push_back({{"name", each.name},
                          {"elements", each.elements},
                          {"weights", finite_number<OrderedJson>(each.weights)},
                          {"gradients", finite_number<OrderedJson>(each.gradients)},
                          {"updates", finite_number<OrderedJson>(each.updates)},
                          {"weight_histogram", histogram_json(each.weight_values)},
                          {"gradient_histogram", histogram_json(each.gradient_values)}});
  return {{"type", "layers"}, {"step", layers.step}, {"parameters", std::move(parameters)}};
}

OrderedJson metrics_line(const observe::WeightsHashed& hashed) {
  return {{"type", "hash"}, {"step", hashed.step}, {"weights_sha256", hashed.sha256}};
}

OrderedJson metrics_line(const observe::WorkerLost& lost) {
  return {{"type", "lost"}, {"step", lost.step}, {"who", lost.who}, {"workers_left", lost.workers_left}};
}

OrderedJson metrics_line(const observe::Detached& detached) {
  return {{"type", "detached"}, {"step", detached.step}, {"cause", detached.cause}};
}

OrderedJson metrics_line(const observe::Diverged& diverged) {
  return {{"type", "diverged"},
          {"step", diverged.step},
          {"what", diverged.what},
          {"value", fmt::format("{}", diverged.value)}};
}

template <class T>
concept HasMetricsLine = requires(const T& event) {
  metrics_line(event);
};

// Whether a line is about something that the resumed run will do again.
bool is_withdrawn(const std::string& type, std::int64_t step, const observe::RolledBack& to) {
  if (type == "diverged") return false;
  if (step != to.step) return step > to.step;
  if (type == "hand_over") return true;
  return to.is_within_epoch && (type == "epoch" || type == "confusion");
}

// Removes the lines of steps that will be repeated, but keeps that the run has diverged there. Damaged lines are
// removed as well: they must not keep a run from going on.
void cut(const base::fs::path& path, const observe::RolledBack& to) {
  std::string kept;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    const std::string type = json.contains("type") && json["type"].is_string() ? json["type"].get<std::string>() : "";
    if (!is_withdrawn(type, json["step"].get<std::int64_t>(), to)) kept += line + "\n";
  }
  base::write_text_atomically(path, kept);
}

class MetricsSink : public observe::EventSink {
 public:
  explicit MetricsSink(const base::fs::path& folder) : path_(folder / "metrics.jsonl"), writer_(std::in_place, path_) {}

  bool is_record() const override { return true; }
  bool wants(const observe::Event& event) const override {
    return std::visit([]<class T>(const T&) { return HasMetricsLine<T> || std::is_same_v<T, observe::RolledBack>; },
                      event);
  }
  void on(const observe::Event& event) override {
    std::visit(base::Match{[&]<HasMetricsLine T>(const T& one) { write(metrics_line(one)); },
                           [&](const observe::RolledBack& to) {
                             writer_.reset();  // cut() replaces the file
                             cut(path_, to);
                             writer_.emplace(path_);
                             if (to.is_resume) write({{"type", "resumed"}, {"step", to.step}});
                           },
                           [](const auto&) {}},
               event);
  }

 private:
  void write(OrderedJson line) {
    if (!line.contains("time")) line["time"] = base::unix_seconds();
    writer_->write(line.dump(-1, ' ', false, OrderedJson::error_handler_t::replace));
  }

  base::fs::path path_;
  std::optional<base::LineWriter> writer_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_metrics_sink(const SinkContext& context) {
  return std::make_unique<MetricsSink>(context.folder);
}

}  // namespace trireme::train
