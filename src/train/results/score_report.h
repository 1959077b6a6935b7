// Scores of values and labels as text for users and JSON for programs. Pure functions; thread-safe.
#pragma once

#include <string>
#include <vector>

#include "train/evaluation/evaluate.h"

namespace trireme::train {

// An error in the data's own units, which may have any size: "0.0312", "11360.2".
std::string error_text(double error);

// "R2  0.9123  (MAE 0.431, RMSE 0.612, loss 0.3745)", "accuracy  93.10 %  (loss 0.2130)", and so on.
std::string headline(const Evaluation& evaluation);
// The same, a line for each.
std::vector<std::string> score_lines(const Evaluation& evaluation);
// A table with a row per value; empty for a single value and for other targets.
std::vector<std::string> value_table(const data::DataSpec& spec, const Scores& scores);
// A JSON list with the scores of each value, or of each label.
std::string each_score_json(const data::DataSpec& spec, const Scores& scores);

}  // namespace trireme::train
