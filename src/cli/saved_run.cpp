#include "cli/saved_run.h"

#include <array>

#include "base/error.h"
#include "train/run_folder/resume.h"
#include "train/run_folder/run_folder.h"
#include "train/run_folder/start_weights.h"

namespace trireme::cli {

std::vector<base::OptionSpec> with_saved_run_options(const std::vector<base::OptionSpec>& own) {
  constexpr const char* kGroup = "Which weights and samples";
  std::vector<base::OptionSpec> all{
      {kGroup, "run", "DIR", "", "run folder"},
      {kGroup, "checkpoint", "best|last", "best", "which weights"},
      {kGroup, "data", "NAME", "", "dataset; default: the run's own"},
      {kGroup, "data-dir", "DIR", "", "where the dataset lies"},
      {kGroup, "split", "test|validation|train", "test", "which samples"},
      {"How", "threads", "N", "0", "threads; never changes the result"},
  };
  all.insert(all.end(), own.begin(), own.end());
  return all;
}

SavedRun open_saved_run(const train::Registry& registry, const base::Settings& settings) {
  const std::string& run = settings.text("run");
  if (run.empty()) base::user_error("--run is missing: name the run folder whose weights to use");
  const std::array<std::string, 2> which{"best", "last"};
  const bool last = settings.choice("checkpoint", which) == "last";
  const std::array<std::string, 3> splits{"test", "validation", "train"};
  SavedRun saved;
  saved.split_name = settings.choice("split", splits);

  base::Settings resolved = train::settings_of_run(run);
  train::check_known_model(registry, resolved, run);
  for (const char* name : {"data", "data-dir"})
    if (settings.is_set(name)) resolved.set(name, settings.text(name));
  resolved.set("threads", settings.text("threads"));
  resolved.set("pin", "auto");
  resolved.set("augment", "none");
  saved.data_name = resolved.text("data");
  const train::RunFolder folder = train::RunFolder::open(run);
  const data::Normalization normalization = train::stored_normalization(folder);
  saved.experiment = train::resolve(registry, resolved, {&normalization, train::stored_network(folder)});
  saved.split = saved.split_name == "test"    ? saved.experiment.test
                : saved.split_name == "train" ? saved.experiment.train
                                              : saved.experiment.validation;
  if (!saved.split) base::user_error("the run {} kept no validation set; use --split test", run);
  saved.experiment.crew_options.training = false;
  saved.crew = std::make_unique<crew::Crew>(saved.experiment.network, saved.experiment.crew_options);
  saved.checkpoint = train::load_run_weights(*saved.crew, run, last);
  return saved;
}

}  // namespace trireme::cli
