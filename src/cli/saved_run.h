// A finished or running run, opened for evaluation: its settings, one split of its data, its weights on a crew.
#pragma once

#include <memory>
#include <string>

#include "base/options.h"
#include "train/experiment.h"

namespace trireme::cli {

struct SavedRun {
  train::Experiment experiment;
  std::unique_ptr<crew::Crew> crew;
  data::DatasetPtr split;
  std::string data_name, split_name, checkpoint;
};

// Reads the options run, data, data-dir, split, checkpoint and threads.
SavedRun open_saved_run(const base::Settings& settings);

}  // namespace trireme::cli
