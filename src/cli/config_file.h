// Reads --config: options from a TOML file or another run's run.json. Does not overwrite values that are already set.
#pragma once

#include <string>

#include "base/text/options.h"

namespace trireme::cli {

void read_config(base::Settings& settings, const std::string& path);

}  // namespace trireme::cli
