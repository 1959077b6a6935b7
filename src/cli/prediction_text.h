// Predictions as files: CSV with a header, one JSON object per line, or a NumPy array. Pure functions; thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <string>

#include "train/evaluation/predictions.h"

namespace trireme::cli {

struct PredictionTable {
  const train::Predictions& predictions;
  std::function<std::string(std::int64_t sample)> file;  // of a sample; null: samples have no files
  std::int64_t top = 0;                                  // of classes: only so many, the best first; 0: all
};

// index, file, label (where known), predicted, and probabilities: p_NAME of every class or label, or with `top`
// probability, predicted_2, probability_2, .... Of values: one column label and predicted, or label_NAME and
// predicted_NAME. Several labels of one sample are separated by semicolons.
std::string as_csv(const PredictionTable& table);
// The same fields; probabilities as an object by name, or as a list `top` of {"class", "probability"}.
std::string as_json_lines(const PredictionTable& table);
// float32, samples x classes (probabilities), labels (probabilities) or values.
std::string as_npy(const PredictionTable& table);

// A CSV field: in quotes where it has a separator, a quote or a line end.
std::string csv_field(const std::string& text);

}  // namespace trireme::cli
