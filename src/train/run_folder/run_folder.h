// RunFolder: the folder with everything that a run produces.
// One caller at a time.
//
//   run.json         configuration, what it resolved to, versions, host, kernel fingerprints
//   network.json     the network, see graph/description/network_json.h
//   metrics.jsonl    one object per step and per epoch
//   resources.jsonl  CPU, memory and network once per second
//   trace.json       chrome trace of the steps
//   checkpoints/     see store/checkpoint.h
//   profile.json     time by op, when asked for
//   summary.json     written at the end
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/system/files.h"
#include "base/text/options.h"
#include "graph/fingerprint.h"
#include "train/experiment/experiment.h"
#include "train/experiment/model_choice.h"
#include "train/run_folder/run_history.h"

namespace trireme::train {

class RunFolder {
 public:
  // Makes a new folder: the wanted one, which must be empty or not exist yet, or runs/<model>-<data>-<number>.
  static RunFolder create(const std::string& wanted, const std::string& model, const std::string& data);
  // Opens an existing run; a user error if it is none.
  static RunFolder open(const std::string& path);

  const base::fs::path& path() const { return path_; }
  base::fs::path file(const char* name) const { return path_ / name; }
  base::fs::path checkpoints() const { return path_ / "checkpoints"; }

  // Locks the run against other processes as long as this object lives; a user error if it is locked already.
  void lock();
  // Whether a process trains in the folder: it holds the lock.
  bool is_locked() const;
  // Removes a folder that create() made if nothing was written into it.
  void remove_if_empty() const;

 private:
  RunFolder(base::fs::path path, bool made) : path_(std::move(path)), made_(made) {}
  base::fs::path path_;
  bool made_;
  std::shared_ptr<const int> lock_;  // the locked file descriptor
};

// The processes of a run.
struct WorldOfRun {
  int workers = 1, servers = 0;
  struct Process {
    std::string name, host;
    int threads = 0;
  };
  std::vector<Process> processes;
};

void write_run_json(const RunFolder& folder, const base::Settings& settings, const Experiment& experiment,
                    const std::vector<graph::KernelPrint>& prints, const WorldOfRun& world,
                    const std::vector<RunStart>& starts);

// A normalisation as one line of JSON, and back.
std::string to_text(const data::Normalization& normalization);
data::Normalization normalization_from_text(const std::string& text);

// A scale of targets as one line of JSON, and back.
std::string to_text(const data::TargetScale& scale);
data::TargetScale target_scale_from_text(const std::string& text);

// The normalisation a run was trained with.
data::Normalization stored_normalization(const RunFolder& folder);

// The scale of a run's targets; none in runs that learn values as they are, as those of older versions.
data::TargetScale stored_target_scale(const RunFolder& folder);

// The network of a run; nothing for runs of programs that did not store it. A changed file is a user error.
std::optional<ModelText> stored_network(const RunFolder& folder);

// The samples a run was trained with; none in runs of older versions.
std::optional<RunSamples> stored_samples(const RunFolder& folder);

// The starts of a run so far; none in runs of older versions.
std::vector<RunStart> stored_starts(const RunFolder& folder);

// How many samples the sets of a run have.
struct SetSizes {
  std::int64_t train = 0, validation = 0, test = 0;
  bool operator==(const SetSizes&) const = default;
  std::string text() const;  // "144 training, 16 validation, 41 test samples"
};
SetSizes set_sizes(const Experiment& experiment);
std::optional<SetSizes> stored_set_sizes(const RunFolder& folder);

std::string stored_data_hash(const RunFolder& folder);

// The fingerprints a run was started with.
std::vector<graph::KernelPrint> stored_fingerprint(const RunFolder& folder);

// Takes over the configuration of a run.json, except options that are given already, and except options about the run's
// place and output (run, resume, config, json, quiet, allow-other-bits).
void read_configuration(base::Settings& settings, const std::string& run_json);

// The settings of a run, read from its run.json.
base::Settings settings_of_run(const std::string& run);

}  // namespace trireme::train
