// The one training loop: from settings to a finished run folder, new or resumed.
#pragma once

#include <string>

#include "base/options.h"

namespace trireme::train {

// Trains as the settings say (--config has been read already) and returns the summary as one line of JSON. Errors are
// base::Error; a run that fails after its start leaves a folder that --resume takes.
std::string train(const base::Settings& settings);

}  // namespace trireme::train
