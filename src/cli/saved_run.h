// A finished or running run, opened for evaluation: its settings, one split of its data, its weights on a crew.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "train/experiment/experiment.h"

namespace trireme::cli {

struct SavedRun {
  train::Experiment experiment;
  std::unique_ptr<crew::Crew> crew;
  data::DatasetPtr split;
  std::string data_name, split_name, checkpoint;
};

// The options that name a run, its weights and the samples, before a verb's own.
std::vector<base::OptionSpec> with_saved_run_options(const std::vector<base::OptionSpec>& own);

SavedRun open_saved_run(const train::Registry& registry, const base::Settings& settings);

}  // namespace trireme::cli
