// ConfusionCounter: counts which classes the network predicts for the samples of each class, during an evaluation.
// Any threads may report different samples at the same time; counts() has one caller, afterwards.
#pragma once

#include <cstdint>
#include <vector>

#include "base/oar_tree.h"

namespace trireme::train {

// A confusion matrix of more classes is too large to be looked at, and is not counted.
inline constexpr std::int64_t kMostConfusedClasses = 100;

class ConfusionCounter {
 public:
  // For the samples [begin, end) of a dataset.
  ConfusionCounter(std::int64_t classes, base::Range samples);

  void set_targets(std::int64_t first, std::int64_t samples, const float* targets);
  // `outputs`: of each sample, one per class. The class of the largest is predicted, the first of equals.
  void see(std::int64_t first, std::int64_t samples, const float* outputs);
  // Row-major: the row is the true class, the column the predicted one.
  std::vector<std::int64_t> counts() const;

 private:
  std::int64_t classes_, first_;
  std::vector<std::uint8_t> targets_, predicted_;  // per sample; 255: unknown
};

}  // namespace trireme::train
