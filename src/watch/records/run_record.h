// RunRecord: what a run folder tells about its run, finished or not.
// A value; the functions are thread-safe.
//
// The files of a running job grow while they are read, and those of a killed one may end within a line, so lines that
// cannot be read are left out. Only a folder without a readable run.json is no run.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "base/system/files.h"

namespace trireme::watch {

enum class RunState { running, finished, interrupted };
const char* state_name(RunState state);

// Numbers that are not there (the accuracy of a regression) are NaN.
struct EpochRecord {
  std::int64_t step = 0, epoch = 0;  // steps done; epochs from 0
  double train_loss = 0, train_accuracy = 0;
  double held_out_loss = 0, held_out_accuracy = 0;
  bool is_validation = false;  // held-out data is the validation share; otherwise the test set
  double lr = 0, seconds = 0;
  std::map<std::string, double> scores{};  // of held-out data: "r2", "f1_micro"
};

struct StepRecord {
  std::int64_t step = 0;
  double loss = 0, accuracy = 0, lr = 0;
};

struct RunRecord {
  base::fs::path folder;
  std::string name;  // the folder's last name
  RunState state = RunState::interrupted;
  std::int64_t started = 0;  // Unix time of the folder's first file

  std::map<std::string, std::string> configuration;  // the options of `train`
  std::string model, data, strategy;
  std::int64_t workers = 1, servers = 0, parameters = 0;
  std::int64_t steps_per_epoch = 0, total_steps = 0;

  std::vector<EpochRecord> epochs;
  StepRecord last_step;  // step 0: none was made

  // Of summary.json; NaN or empty where there is none.
  double test_loss = 0, test_accuracy = 0, samples_per_second = 0;
  std::map<std::string, double> seconds;  // since the last start, by phase, and "total"; "whole_run"
  std::string weights_sha256;
  std::map<std::string, double> scores;  // on the test set

  std::size_t starts = 1;  // the first and every resume
};

// The accuracy (loss) that tells how good the run is: on the test set at its end, else after its last epoch.
double best_known_accuracy(const RunRecord& run);
double best_known_loss(const RunRecord& run);
// The scores that runs may have beside accuracy and loss, in the order of their columns: "r2", "mae", ...
std::vector<std::string> score_names();
// "R2", "MAE", ...
std::string score_title(const std::string& name);
// A score as best_known_loss(); NaN if the run has none of this name.
double best_known_score(const RunRecord& run, const std::string& name);
// Seconds of the whole run, as far as it is known.
double run_seconds(const RunRecord& run);

// Nothing if the folder is not a run's.
std::optional<RunRecord> read_run(const base::fs::path& folder);
// A folder that is not a run's is a user error.
RunRecord expect_run(const base::fs::path& folder);
// The runs in a folder, at most two levels below it, in the order of their names; or the folder itself if it is a run.
// A folder that does not exist is a user error.
std::vector<RunRecord> read_runs(const base::fs::path& folder);

// The steps of metrics.jsonl; of very many, evenly spaced ones, at most `most`.
std::vector<StepRecord> read_steps(const base::fs::path& folder, std::size_t most);

}  // namespace trireme::watch
