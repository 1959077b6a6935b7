// What to resume with after a loss that is not finite. Thread-safe.
#pragma once

#include <string>

#include "base/text/options.h"
#include "train/run_folder/run_folder.h"

namespace trireme::train {

// Options as for a shell: the run's optimizer and schedule with a tenth of their rates, at most 0.01, and a bound of
// the gradient's norm. `rate` is the optimizer's, which its options need not name.
std::string options_for_lower_rate(const base::Settings& settings, double rate);

// True when the run ended with a number that was not finite after its last checkpoint: then the options that decide
// the learning rate may change.
bool has_diverged(const RunFolder& folder);
bool decides_rate(const std::string& option);

}  // namespace trireme::train
