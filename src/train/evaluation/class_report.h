// ClassReport: where a classifier is right and what it confuses. Immutable once made; thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "train/evaluation/predictions.h"

namespace trireme::train {

// Samples of one class that were taken for another.
struct Confusion {
  std::size_t label = 0, predicted = 0;
  std::int64_t samples = 0;
};

struct ClassReport {
  std::vector<ClassScore> scores;     // per class or label
  std::vector<Confusion> confusions;  // of classes, the most samples first
  // samples[label][predicted] of classes.
  std::vector<std::vector<std::int64_t>> matrix() const;
};

// REQUIRES: targets, classes or labels. A label is predicted with a probability of at least 0.5.
ClassReport report_classes(const Predictions& predictions);

// The samples with the highest losses, the highest first; losses that are no number come before all. REQUIRES: targets.
std::vector<std::int64_t> worst_samples(const Predictions& predictions, std::int64_t count);

}  // namespace trireme::train
