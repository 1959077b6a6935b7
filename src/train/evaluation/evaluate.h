// Evaluation: loss and accuracy of the crew's weights on a dataset.
// One caller at a time per crew. The evaluation batch is fixed, so the results are the same for any number of threads.
#pragma once

#include "crew/crew.h"
#include "data/dataset/dataset.h"
#include "data/dataset/target_scale.h"
#include "train/evaluation/scores.h"

namespace trireme::train {

struct Evaluation {
  std::int64_t samples = 0;
  double loss = 0;      // mean, of targets as they are learnt
  double accuracy = 0;  // mean; NaN when the target is real values
  Scores scores;        // of values, in the data's own units, and labels
  // Of at most kMostConfusedClasses classes, otherwise empty: samples[label][predicted], row-major.
  std::vector<std::int64_t> confusion{};
};

// The sums over each of some evaluation batches, in their order.
struct EvaluationSums {
  std::vector<double> losses, corrects;  // one per batch
  std::vector<double> scores;            // score_sums() per batch
  std::vector<std::int64_t> confusion;   // of all these batches
};
// Evaluates the evaluation batches [begin, end) of a dataset. The dataset has targets in its own units, the network
// gives them on the scale; `see` gets what the network gives.
EvaluationSums evaluate_part(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale,
                             base::Range batches, const crew::Crew::See& see = nullptr);
// Combines the sums of all batches of a dataset.
Evaluation whole_evaluation(const data::Dataset& dataset, const EvaluationSums& sums);
// Evaluates the whole dataset.
Evaluation evaluate(crew::Crew& crew, const data::Dataset& dataset, const data::TargetScale& scale,
                    const crew::Crew::See& see = nullptr);

}  // namespace trireme::train
