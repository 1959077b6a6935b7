// train_options(): the options of `train`; one table for the command line, help, configuration files and run.json.
// Thread-safe.
#pragma once

#include <span>

#include "base/text/options.h"

namespace trireme::train {

std::span<const base::OptionSpec> train_options();

}  // namespace trireme::train
