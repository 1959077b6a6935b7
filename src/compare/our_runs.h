// Whole runs of `trireme train`, as processes of their own, with any number of workers and any strategy.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "base/files.h"

namespace trireme::compare {

using TrainOptions = std::map<std::string, std::string>;  // name without dashes -> value

struct TrainedRun {
  std::string weights_sha256;
  std::vector<double> accuracies;  // on the test set, after each epoch
};

class OurRuns {
 public:
  // `options` are those of all runs; their folders are made in `folder` and go when a run has ended.
  OurRuns(std::string program, TrainOptions options, base::fs::path folder);

  // With these options on top. A run that fails is a run error with its words.
  TrainedRun train(const TrainOptions& more) const;

 private:
  std::string program_;
  TrainOptions options_;
  base::fs::path folder_;
};

}  // namespace trireme::compare
