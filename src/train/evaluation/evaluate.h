// Evaluation of a dataset with the crew's weights, in a fixed batch: the same numbers on any number of threads.
#pragma once

#include "crew/crew.h"
#include "data/dataset/dataset.h"

namespace trireme::train {

struct Evaluation {
  std::int64_t samples = 0;
  double loss = 0;      // mean
  double accuracy = 0;  // mean; NaN where the target is real values
};

// Some of the evaluation batches of a dataset; their losses and counts of what was right.
crew::EvaluationReport evaluate_part(crew::Crew& crew, const data::Dataset& dataset, base::Range batches,
                                     const crew::Crew::See& see = nullptr);
// The whole, from those of its batches in order.
Evaluation whole_evaluation(const data::Dataset& dataset, std::span<const double> losses,
                            std::span<const double> corrects);
Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const crew::Crew::See& see = nullptr);

}  // namespace trireme::train
