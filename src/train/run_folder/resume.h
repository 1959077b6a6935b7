// Checks for a resumed run: the same experiment, the same data, and kernels with the same results.
// Thread-safe, except run_fingerprint(): one caller at a time per crew.
#pragma once

#include <string>
#include <vector>

#include "base/text/options.h"
#include "crew/crew.h"
#include "graph/fingerprint.h"
#include "train/experiment/experiment.h"
#include "train/experiment/registry.h"
#include "train/run_folder/run_folder.h"

namespace trireme::train {

// Throws a user error when the settings of `run` name a model that only another program has registered.
void check_known_model(const Registry& registry, const base::Settings& settings, const std::string& run);

// The settings of the run that `given` resumes, with the options that may change taken from `given`. Changing any other
// option is a user error.
base::Settings resumed_settings(const Registry& registry, const base::Settings& given);

// Fingerprints of every kernel that the run may use: for oars of the full batch and of an epoch's shorter last batch,
// and for evaluation.
std::vector<graph::KernelPrint> run_fingerprint(crew::Crew& crew, const Experiment& experiment);

// Throws a user error when the run's data is a path where nothing is. It says to use `advice` with its new place.
void check_data_exists(const Registry& registry, const base::Settings& settings, const std::string& run,
                       const std::string& advice);
// Throws a user error when the data is not that of the run so far.
void check_same_data(const RunFolder& folder, const Experiment& experiment);
// Returns an empty string when the run began with all fingerprints of `now`. Otherwise throws a user error or, with
// `allow_others`, returns a sentence that names the first different kernel.
std::string check_same_kernels(const RunFolder& folder, const std::vector<graph::KernelPrint>& now, bool allow_others);

}  // namespace trireme::train
