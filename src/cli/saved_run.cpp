#include "cli/saved_run.h"

#include <array>

#include "base/error.h"
#include "train/run_folder.h"
#include "train/start_weights.h"

namespace trireme::cli {

SavedRun open_saved_run(const base::Settings& settings) {
  const std::string& run = settings.text("run");
  if (run.empty()) base::user_error("--run is missing: name the run folder whose weights to use");
  const std::array<std::string, 2> which{"best", "last"};
  const bool last = settings.choice("checkpoint", which) == "last";
  const std::array<std::string, 3> splits{"test", "validation", "train"};
  SavedRun saved;
  saved.split_name = settings.choice("split", splits);

  base::Settings resolved = train::settings_of_run(run);
  for (const char* name : {"data", "data-dir"})
    if (settings.is_set(name)) resolved.set(name, settings.text(name));
  resolved.set("threads", settings.text("threads"));
  resolved.set("pin", "auto");
  resolved.set("augment", "none");
  saved.data_name = resolved.text("data");
  const data::Normalization normalization = train::stored_normalization(train::RunFolder::open(run));
  saved.experiment = train::resolve(resolved, &normalization);
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
