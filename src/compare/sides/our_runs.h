// Whole runs of `trireme train`, as processes of their own, with any number of workers and any strategy.
#pragma once

#include <string>
#include <vector>

#include "base/system/files.h"
#include "peer/own_run.h"

namespace trireme::compare {

using peer::TrainOptions;

struct TrainedRun {
  std::string weights_sha256;
  std::vector<double> accuracies;  // on the test set, after each epoch
};

class OurRuns {
 public:
  // `options` are those of all runs; their folders are made in `folder` and go when a run has ended.
  OurRuns(TrainOptions options, base::fs::path folder);

  // With these options on top; see peer::run_train.
  TrainedRun train(const TrainOptions& more) const;

 private:
  TrainOptions options_;
  base::fs::path folder_;
};

}  // namespace trireme::compare
