// What must hold when a run goes on: the same experiment, the same data, kernels that give the same results.
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

// A user error when these settings of a run name a model that another program registered.
void check_known_model(const Registry& registry, const base::Settings& settings, const std::string& run);

// The settings of the run that `given` resumes, with what may change taken from `given`; changing anything else is a
// user error.
base::Settings resumed_settings(const Registry& registry, const base::Settings& given);

// Fingerprints of every kernel the run may use: oars of the full batch and of an epoch's shorter last one, evaluation.
std::vector<graph::KernelPrint> run_fingerprint(crew::Crew& crew, const Experiment& experiment);

// A user error when the data is not that of the run so far.
void check_same_data(const RunFolder& folder, const Experiment& experiment);
// Empty when all of `now` is among what the run began with. Otherwise a user error, or, where other bits are allowed, a
// sentence that names the first kernel.
std::string check_same_kernels(const RunFolder& folder, const std::vector<graph::KernelPrint>& now, bool allow_others);

}  // namespace trireme::train
