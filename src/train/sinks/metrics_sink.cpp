// The sink of metrics.jsonl, see docs/run_folder.md. Every line is written to the file before the next event is taken.
#include <fmt/core.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>

#include "base/system/files.h"
#include "train/results/finite_number.h"
#include "train/sinks/sinks.h"

namespace trireme::train {
namespace {

using OrderedJson = nlohmann::ordered_json;

std::string metrics_line(const observe::StepDone& step) {
  OrderedJson line{{"type", "step"},
                   {"step", step.step},
                   {"epoch", step.epoch},
                   {"loss", finite_number<OrderedJson>(step.loss)},
                   {"accuracy", finite_number<OrderedJson>(step.accuracy)},
                   {"lr", step.lr}};
  OrderedJson& times = line["seconds"];
  for (const observe::StepTime& time : observe::kStepTimes) times[time.name] = step.seconds.*time.seconds;
  return line.dump();
}

std::string metrics_line(const observe::PushDone& push) {
  return OrderedJson{{"type", "push"},
                     {"step", push.step},
                     {push.is_group ? "group" : "worker", push.pusher},
                     {"clock", push.clock},
                     {"slowest", push.has_bound ? OrderedJson(push.slowest) : OrderedJson(nullptr)}}
      .dump();
}

std::string metrics_line(const observe::EpochDone& epoch) {
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
  return line.dump();
}

std::string metrics_line(const observe::Detached& detached) {
  return OrderedJson{{"type", "detached"}, {"step", detached.step}, {"cause", detached.cause}}.dump();
}

std::string metrics_line(const observe::Diverged& diverged) {
  return OrderedJson{{"type", "diverged"},
                     {"step", diverged.step},
                     {"what", diverged.what},
                     {"value", fmt::format("{}", diverged.value)}}
      .dump();
}

// Removes the lines of steps that will be repeated, but keeps that the run has diverged there. Damaged lines are
// removed as well: they must not keep a run from going on.
void cut(const base::fs::path& path, const observe::RolledBack& to) {
  std::string kept;
  std::ifstream in(path);
  for (std::string line; std::getline(in, line);) {
    const auto json = nlohmann::json::parse(line, nullptr, false);
    if (!json.is_object() || !json.contains("step") || !json["step"].is_number_integer()) continue;
    const auto step = json["step"].get<std::int64_t>();
    const bool is_epoch = json.contains("type") && json["type"] == "epoch";
    const bool is_divergence = json.contains("type") && json["type"] == "diverged";
    if (is_divergence) {
      kept += line + "\n";
      continue;
    }
    if (step > to.step || (step == to.step && to.is_within_epoch && is_epoch)) continue;
    kept += line + "\n";
  }
  base::write_text_atomically(path, kept);
}

class MetricsSink : public observe::EventSink {
 public:
  explicit MetricsSink(const base::fs::path& folder) : path_(folder / "metrics.jsonl"), writer_(std::in_place, path_) {}

  bool is_record() const override { return true; }
  bool wants(const observe::Event& event) const override {
    return std::visit(
        base::Match{[](const observe::StepDone&) { return true; }, [](const observe::PushDone&) { return true; },
                    [](const observe::EpochDone&) { return true; }, [](const observe::RolledBack&) { return true; },
                    [](const observe::Detached&) { return true; }, [](const observe::Diverged&) { return true; },
                    [](const auto&) { return false; }},
        event);
  }
  void on(const observe::Event& event) override {
    std::visit(base::Match{[&](const observe::StepDone& step) { writer_->write(metrics_line(step)); },
                           [&](const observe::PushDone& push) { writer_->write(metrics_line(push)); },
                           [&](const observe::EpochDone& epoch) { writer_->write(metrics_line(epoch)); },
                           [&](const observe::Detached& detached) { writer_->write(metrics_line(detached)); },
                           [&](const observe::Diverged& diverged) { writer_->write(metrics_line(diverged)); },
                           [&](const observe::RolledBack& to) {
                             writer_.reset();  // cut() replaces the file
                             cut(path_, to);
                             writer_.emplace(path_);
                           },
                           [](const auto&) {}},
               event);
  }

 private:
  base::fs::path path_;
  std::optional<base::LineWriter> writer_;
};

}  // namespace

std::unique_ptr<observe::EventSink> make_metrics_sink(const SinkContext& context) {
  return std::make_unique<MetricsSink>(context.folder);
}

}  // namespace trireme::train
