// Predictions: what a network answers to every sample of a dataset, and how wrong each answer is.
// One caller at a time per crew; a Predictions object is immutable.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "train/evaluation/evaluate.h"

namespace trireme::train {

struct Predictions {
  Evaluation evaluation;
  data::DataSpec spec;
  std::int64_t samples = 0;
  std::vector<float> outputs;  // samples x spec.classes, as the network gives them; values in the data's own units
  std::vector<float> targets;  // samples x target_floats(spec); empty without targets
  data::TargetScale scale{};   // on which values are learnt

  std::span<const float> output(std::int64_t sample) const;
  std::span<const float> target(std::int64_t sample) const;
  // Probabilities of classes (softmax) and of labels (sigmoid); values as they are.
  std::vector<double> answer(std::int64_t sample) const;
  // The class of the largest output, the first of equals. REQUIRES: classes.
  std::size_t best_class(std::int64_t sample) const;
  // Cross-entropy of classes, the mean one of labels, the mean squared error of values as they are learnt. REQUIRES:
  // targets.
  double loss(std::int64_t sample) const;
};

// `with_targets` false: the dataset's targets are placeholders and not kept.
Predictions predict(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale,
                    bool with_targets = true);

// The name of a class, label or value; its number where the data has no names.
std::string class_name(const data::DataSpec& spec, std::size_t number);

}  // namespace trireme::train
