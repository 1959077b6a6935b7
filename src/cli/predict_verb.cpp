#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "base/error.h"
#include "base/system/files.h"
#include "cli/cli.h"
#include "cli/saved_run.h"
#include "train/evaluation/evaluate.h"

namespace trireme::cli {
namespace {

// One CSV line of a classifier: index, true class, predicted class, its name, its probability.
std::string class_line(std::int64_t index, const float* logits, std::int64_t classes, float truth,
                       const std::vector<std::string>& names) {
  const std::int64_t best = std::max_element(logits, logits + classes) - logits;
  double sum = 0;
  for (std::int64_t k = 0; k < classes; ++k) sum += std::exp(static_cast<double>(logits[k]) - logits[best]);
  const std::string name = names.empty() ? std::to_string(best) : names[static_cast<std::size_t>(best)];
  return fmt::format("{},{},{},{},{:.6f}\n", index, static_cast<std::int64_t>(truth), best, name, 1 / sum);
}

// Labels as probabilities, values unchanged.
std::string vector_line(std::int64_t index, const float* prediction, std::int64_t count, bool labels) {
  std::string line = std::to_string(index);
  for (std::int64_t k = 0; k < count; ++k) {
    const auto x = static_cast<double>(prediction[k]);
    line += fmt::format(",{:.6g}", labels ? 1 / (1 + std::exp(-x)) : x);
  }
  return line + "\n";
}

int run_predict(const train::Registry& registry, const base::Settings& settings, const std::string&) {
  const std::string& output = settings.text("output");
  std::error_code ignored;
  if (!output.empty() && base::fs::exists(output, ignored))
    base::user_error("{} exists already; name a new file", output);
  SavedRun saved = open_saved_run(registry, settings);
  const data::DataSpec& spec = saved.split->spec();
  const bool classes = spec.target == data::TargetKind::classes;
  std::vector<std::string> lines(static_cast<std::size_t>(saved.split->size()));
  const auto see = [&](std::int64_t first, std::int64_t samples, const float* prediction) {
    std::vector<std::vector<float>> inputs;
    std::vector<float*> places;
    for (const auto& shape : spec.inputs) inputs.emplace_back(static_cast<std::size_t>(shape.count()));
    for (auto& input : inputs) places.push_back(input.data());
    std::vector<float> truth(static_cast<std::size_t>(data::target_floats(spec)));
    for (std::int64_t s = 0; s < samples; ++s) {
      const float* row = prediction + s * spec.classes;
      if (classes) saved.split->fetch(first + s, {}, places, truth.data());
      lines[static_cast<std::size_t>(first + s)] =
          classes ? class_line(first + s, row, spec.classes, truth[0], spec.class_names)
                  : vector_line(first + s, row, spec.classes, spec.target == data::TargetKind::labels);
    }
  };
  const train::Evaluation result = train::evaluate(*saved.crew, *saved.split, see);
  std::string text = classes ? "index,label,predicted,name,probability\n" : "index,prediction...\n";
  for (const std::string& line : lines) text += line;
  if (output.empty()) {
    std::fputs(text.c_str(), stdout);
    return 0;
  }
  base::write_text_atomically(output, text);
  if (classes)
    fmt::print("{} predictions in {}, {:.2f} % right\n", result.samples, output, 100 * result.accuracy);
  else
    fmt::print("{} predictions in {}\n", result.samples, output);
  return 0;
}

}  // namespace

Verb predict_verb() {
  static const auto options = with_saved_run_options(
      {{"How", "output", "FILE", "", "write the CSV there (must be new); default: standard output"}});
  return {"predict",
          "write a run's predictions as CSV",
          "Example:\n  trireme predict --run runs/a --output predictions.csv",
          options,
          "",
          run_predict};
}

}  // namespace trireme::cli
