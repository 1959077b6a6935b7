#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "cli/cli.h"
#include "cli/saved_run.h"
#include "train/evaluation/evaluate.h"

namespace trireme::cli {
namespace {

int run_eval(const train::Registry& registry, const base::Settings& settings, const std::string&) {
  SavedRun saved = open_saved_run(registry, settings);
  print_notes(saved.found);
  const train::Evaluation result = train::evaluate(*saved.crew, *saved.split);
  if (settings.flag("json")) {
    nlohmann::ordered_json json{{"run", settings.text("run")}, {"checkpoint", saved.checkpoint},
                                {"data", saved.data_name},     {"split", saved.split_name},
                                {"samples", result.samples},   {"loss", result.loss}};
    json["accuracy"] =
        std::isnan(result.accuracy) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(result.accuracy);
    json["weights_sha256"] = saved.crew->space().sha256(saved.crew->weights());
    fmt::print("{}\n", json.dump());
    return 0;
  }
  fmt::print("{} on {} samples of {} ({})\n", saved.checkpoint, result.samples, saved.data_name, saved.split_name);
  if (!std::isnan(result.accuracy)) fmt::print("accuracy  {:.2f} %\n", 100 * result.accuracy);
  fmt::print("loss      {:.6f}\n", result.loss);
  return 0;
}

}  // namespace

Verb eval_verb() {
  static const auto options =
      with_saved_run_options({{"How", "json", "", "no", "print the result as one JSON object"}});
  return {"eval",  "evaluate a run's weights on a dataset", "Example:\n  trireme eval --run runs/a", options, "",
          run_eval};
}

}  // namespace trireme::cli
