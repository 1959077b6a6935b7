#include <fmt/core.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/eval_report.h"
#include "cli/saved_run.h"
#include "data/stages/prepare.h"
#include "train/results/score_report.h"

namespace trireme::cli {
namespace {

void check_picture(const std::string& file) {
  if (file.empty()) return;
  if (!file.ends_with(".png")) base::user_error("--show {} must end in .png", file);
  base::check_new_file("--show", file);
}

// The samples without the run's normalization, to look at.
data::DatasetPtr as_in_the_data(const SavedRun& saved) {
  data::Normalization inverse{"inverse", {}};
  const std::vector<tensor::Shape>& shapes = saved.split->spec().inputs;
  const std::vector<data::InputNormalization>& inputs = saved.experiment.normalization.inputs;
  for (std::size_t i = 0; i < inputs.size() && i < shapes.size(); ++i) {
    const auto numbers = static_cast<std::int64_t>(inputs[i].mean.size());
    if (numbers != shapes[i][0] && numbers != shapes[i].count()) return saved.split;  // per pixel, and resized since
    data::InputNormalization& back = inverse.inputs.emplace_back();
    for (std::size_t k = 0; k < inputs[i].mean.size(); ++k) {
      back.mean.push_back(-inputs[i].mean[k] / inputs[i].divisor[k]);
      back.divisor.push_back(1 / inputs[i].divisor[k]);
    }
  }
  return data::normalize(saved.split, inverse);
}

void print_eval_json(const base::Settings& settings, const SavedRun& saved, const EvalReport& report) {
  const train::Evaluation& result = report.predictions.evaluation;
  nlohmann::ordered_json json{{"run", settings.text("run")}, {"checkpoint", saved.checkpoint},
                              {"data", saved.data_name},     {"split", saved.split_name},
                              {"samples", result.samples},   {"loss", result.loss}};
  json["accuracy"] =
      std::isnan(result.accuracy) ? nlohmann::ordered_json(nullptr) : nlohmann::ordered_json(result.accuracy);
  for (const observe::Score& score : result.scores.named()) {
    const bool is_known = !std::isnan(score.value);
    json[score.name] = is_known ? nlohmann::ordered_json(score.value) : nlohmann::ordered_json(nullptr);
  }
  json["weights_sha256"] = saved.crew->space().sha256(saved.crew->weights());
  json["weights"] = saved.weights;
  json.update(nlohmann::ordered_json::parse(report_json(report)));
  fmt::print("{}\n", json.dump());
}

int run_eval(const train::Registry& registry, const base::Settings& settings, const Arguments&) {
  const std::string& picture = settings.text("show");
  check_picture(picture);
  SavedRun saved = open_saved_run(registry, settings);
  print_notes(saved.found);
  const train::Predictions all = train::predict(*saved.crew, *saved.split, saved.experiment.target_scale);
  const EvalReport report{all, [&](std::int64_t sample) { return saved.split->origin(sample); }};
  const train::Evaluation& result = all.evaluation;
  if (!picture.empty()) {
    const data::ContactSheet sheet = worst_sheet(all, *as_in_the_data(saved));
    base::write_file_atomically(picture, std::as_bytes(std::span(sheet.png)));
    for (const std::string& note : sheet.notes) fmt::print(stderr, "note: {}\n", note);
  }
  if (settings.flag("json")) {
    print_eval_json(settings, saved, report);
    return 0;
  }
  fmt::print("the {} weights, {}, on {} of {} ({})\n", saved.weights, saved.checkpoint,
             base::counted(result.samples, "sample"), saved.data_name, saved.split_name);
  for (const std::string& line : train::score_lines(result)) fmt::print("{}\n", line);
  for (const std::string& line : report_lines(report)) fmt::print("{}\n", line);
  if (!picture.empty()) fmt::print("\n{}: the worst samples, with label / prediction, loss\n", picture);
  return 0;
}

}  // namespace

Verb eval_verb() {
  static const auto options = with_saved_run_options(
      {{"How", "show", "FILE", "", "draw the samples with the highest loss there (.png, must be new)"},
       {"How", "json", "", "no", "print the result as one JSON object"}});
  return {"eval",
          "evaluate a run's weights on a dataset",
          "Examples:\n"
          "  trireme eval --run runs/a\n"
          "  trireme eval --run runs/a --data photos --show worst.png",
          options,
          "",
          run_eval};
}

}  // namespace trireme::cli
