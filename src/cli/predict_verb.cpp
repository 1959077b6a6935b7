#include <fmt/core.h>

#include <array>

#include "base/error.h"
#include "base/system/files.h"
#include "base/text/text.h"
#include "cli/cli.h"
#include "cli/prediction_text.h"
#include "cli/saved_run.h"
#include "train/evaluation/predictions.h"

namespace trireme::cli {
namespace {

// Reports mistakes in the options before anything is computed. Returns the format.
std::string check_output(const base::Settings& settings) {
  const std::string& output = settings.text("output");
  if (!output.empty()) base::check_new_file("--output", output);
  const std::array<std::string, 3> formats{"csv", "jsonl", "npy"};
  std::string format = settings.choice("format", formats);
  if (!settings.is_set("format"))  // the file's ending says it
    for (const std::string& one : formats)
      if (output.ends_with("." + one)) format = one;
  if (format == "npy" && output.empty()) base::user_error("--format npy needs a file to write: --output FILE.npy");
  if (format == "npy" && settings.text("top") != "0")
    base::user_error("--top is for csv and jsonl; an array has the probabilities of all classes");
  return format;
}

std::int64_t parse_top(const base::Settings& settings, const data::DataSpec& spec) {
  if (settings.text("top") == "0") return 0;
  if (spec.target != data::TargetKind::classes)
    base::user_error("--top is for runs with classes, this one predicts {}", data::target_name(spec.target));
  return settings.integer("top", 0, spec.classes);
}

int run_predict(const train::Registry& registry, const base::Settings& settings, const Arguments&) {
  const std::string& output = settings.text("output");
  const std::string format = check_output(settings);
  SavedRun saved = open_saved_run(registry, settings, true);
  const std::int64_t top = parse_top(settings, saved.split->spec());
  print_notes(saved.found);
  const train::Predictions all =
      train::predict(*saved.crew, *saved.split, saved.experiment.target_scale, saved.found.has_targets);
  PredictionTable table{all, nullptr, top};
  if (!saved.split->origin(0).empty()) table.file = [&](std::int64_t sample) { return saved.split->origin(sample); };
  const std::string text = format == "csv" ? as_csv(table) : format == "jsonl" ? as_json_lines(table) : as_npy(table);
  if (output.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  base::write_text_atomically(output, text);
  const std::string count = base::counted(all.samples, "prediction");
  if (saved.found.has_targets && all.spec.target == data::TargetKind::classes)
    fmt::print("{} of the {} weights in {}, {:.2f} % right\n", count, saved.weights, output,
               100 * all.evaluation.accuracy);
  else
    fmt::print("{} of the {} weights in {}\n", count, saved.weights, output);
  return 0;
}

}  // namespace

Verb predict_verb() {
  static const auto options = with_saved_run_options(
      {{"How", "output", "FILE", "", "write the predictions there (must be new); default: standard output"},
       {"How", "format", "csv|jsonl|npy", "csv",
        "a table with a header, a JSON object per line, or a NumPy array; default: as the file ends"},
       {"How", "top", "K", "0", "only the K best classes with their probabilities; 0: the probabilities of all"}});
  return {"predict",
          "write a run's predictions for a dataset or files of your own",
          "Examples:\n"
          "  trireme predict --run runs/a --output predictions.csv\n"
          "  trireme predict --run runs/a --data photo.jpg --top 3\n"
          "  find photos -name '*.jpg' | trireme predict --run runs/a --data - --format jsonl",
          options,
          "",
          run_predict};
}

}  // namespace trireme::cli
