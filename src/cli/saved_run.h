// SavedRun: a run folder opened for evaluation: its settings, one split of its data, and its weights on a crew. The run
// may still be going on.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "base/text/options.h"
#include "cli/saved_data.h"
#include "train/experiment/experiment.h"

namespace trireme::cli {

struct SavedRun {
  train::Experiment experiment;
  std::unique_ptr<crew::Crew> crew;
  data::DatasetPtr split;
  std::string data_name, split_name, checkpoint;
  std::string weights;  // "best" or "last"
  FoundData found;
};

// The options for the run, its weights and its samples, followed by the verb's own.
std::vector<base::OptionSpec> with_saved_run_options(const std::vector<base::OptionSpec>& own);

SavedRun open_saved_run(const train::Registry& registry, const base::Settings& settings, bool may_lack_targets = false);

// "note: ..." on standard error for each sentence about the data.
void print_notes(const FoundData& found);

}  // namespace trireme::cli
