// Evaluation: loss and accuracy of the crew's weights on a dataset.
// One caller at a time per crew. The evaluation batch is fixed, so the results are the same for any number of threads.
#pragma once

#include "crew/crew.h"
#include "data/dataset/dataset.h"

namespace trireme::train {

struct Evaluation {
  std::int64_t samples = 0;
  double loss = 0;      // mean
  double accuracy = 0;  // mean; NaN when the target is real values
};

// Evaluates the evaluation batches [begin, end) of a dataset; returns loss and number of correct answers per batch.
crew::EvaluationReport evaluate_part(crew::Crew& crew, const data::Dataset& dataset, base::Range batches,
                                     const crew::Crew::See& see = nullptr);
// Combines the results of all batches of a dataset, in their order.
Evaluation whole_evaluation(const data::Dataset& dataset, std::span<const double> losses,
                            std::span<const double> corrects);
// Evaluates the whole dataset.
Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const crew::Crew::See& see = nullptr);

}  // namespace trireme::train
