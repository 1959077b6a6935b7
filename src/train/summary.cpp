#include "train/summary.h"

#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/text.h"
#include "observe/resources.h"

namespace trireme::train {
namespace {

using Json = nlohmann::ordered_json;

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(nullptr); }

}  // namespace

void Seconds::add_step(const Seconds& step) {
  load += step.load;
  forward += step.forward;
  backward += step.backward;
  network += step.network;
  update += step.update;
}

double RunResult::samples_per_second() const {
  return samples_here > 0 ? static_cast<double>(samples_here) / seconds.training() : 0;
}

std::string summary_json(const base::Settings& settings, const Experiment& e, const RunResult& r) {
  const Seconds& s = r.seconds;
  const Json json{{"model", settings.text("model")},
                  {"data", settings.text("data")},
                  {"strategy", settings.text("strategy")},
                  {"run", r.run},
                  {"steps", r.progress.step},
                  {"epochs", r.progress.epoch},
                  {"batch", e.batch},
                  {"oars", e.oars},
                  {"threads", e.threads},
                  {"world", 1},
                  {"parameters", e.network.parameter_count()},
                  {"train_loss", number(r.progress.train_loss)},
                  {"train_accuracy", number(r.progress.train_accuracy)},
                  {"test_loss", number(r.test.loss)},
                  {"test_accuracy", number(r.test.accuracy)},
                  {"stopped_early", r.stopped_early},
                  {"weights_sha256", r.weights_sha256},
                  {"samples_per_second", r.samples_per_second()},
                  {"seconds",
                   {{"total", s.total},
                    {"load", s.load},
                    {"forward", s.forward},
                    {"backward", s.backward},
                    {"network", s.network},
                    {"update", s.update},
                    {"evaluation", s.evaluation},
                    {"checkpoint", s.checkpoint},
                    {"whole_run", r.progress.seconds}}},
                  {"peak_memory_bytes", static_cast<std::int64_t>(observe::peak_resident_bytes())}};
  return json.dump();
}

void print_summary(Console& console, const RunResult& r) {
  console.line("");
  if (std::isnan(r.test.accuracy))
    console.line(fmt::format("test loss  {:.6f}", r.test.loss));
  else
    console.line(fmt::format("test accuracy  {:.2f} %  (loss {:.4f})", 100 * r.test.accuracy, r.test.loss));
  if (r.steps_here > 0) {
    console.line(fmt::format("{:.0f} samples/s over {} steps; the time went to", r.samples_per_second(), r.steps_here));
    const Seconds& s = r.seconds;
    for (const auto& [name, seconds] : {std::pair{"load", s.load},
                                        {"forward", s.forward},
                                        {"backward", s.backward},
                                        {"network", s.network},
                                        {"update", s.update},
                                        {"evaluation", s.evaluation},
                                        {"checkpoint", s.checkpoint},
                                        {"total", s.total}})
      console.line(
          fmt::format("  {:<11}{:>10}  {:>5.1f} %", name, base::human_seconds(seconds), 100 * seconds / s.total));
  }
  console.line(fmt::format("weights {}", r.weights_sha256));
  console.line(fmt::format("run folder {}", r.run));
}

}  // namespace trireme::train
