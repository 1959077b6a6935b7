// Runs `trireme train` in processes of their own, with any number of workers and any strategy.
#pragma once

#include <string>
#include <vector>

#include "base/system/files.h"
#include "peer/own_run.h"

namespace trireme::compare {

using peer::TrainOptions;

struct TrainedRun {
  std::string weights_sha256;
  std::vector<double> accuracies;  // on the test set, one per epoch
};

class OurRuns {
 public:
  // `options`: common to all runs. Each run gets a folder inside `folder`, which is removed after the run.
  OurRuns(TrainOptions options, base::fs::path folder);

  // Trains with these options on top; see peer::run_train.
  TrainedRun train(const TrainOptions& more) const;

 private:
  TrainOptions options_;
  base::fs::path folder_;
};

}  // namespace trireme::compare
