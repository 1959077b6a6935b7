// The report of eval behind loss and accuracy: scores per class, the confusion matrix, the worst samples.
// Pure functions; thread-safe.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "data/show/contact_sheet.h"
#include "train/evaluation/class_report.h"

namespace trireme::cli {

struct EvalReport {
  const train::Predictions& predictions;
  std::function<std::string(std::int64_t sample)> file;  // of a sample; empty: it has none
};

// Tables of text. Up to 20 classes are shown whole, of more the worst.
std::vector<std::string> report_lines(const EvalReport& report);
// A JSON object with `per_class` (or `per_value`), `confusion` (up to 100 classes), `confused` and `worst`.
std::string report_json(const EvalReport& report);

// A contact sheet of the worst samples, each with its label, what was predicted, and its loss. Samples are shown as
// `dataset` has them.
data::ContactSheet worst_sheet(const train::Predictions& predictions, const data::Dataset& dataset);

}  // namespace trireme::cli
