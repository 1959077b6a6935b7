// The one training loop: from settings to a finished run folder, new or resumed.
#pragma once

#include <map>
#include <string>

#include "base/options.h"

namespace trireme::train {

struct TrainSummary {
  std::string model, data, run;
  std::string json;          // the whole summary as one line, as in summary.json
  double test_accuracy = 0;  // 0...1; NaN where the target is real values
  double train_loss = 0;
  std::string weights_sha256;
};

// Trains as the settings say; --config has been read already. Errors are base::Error; a run that fails after its start
// leaves a folder that --resume takes.
TrainSummary train(base::Settings settings);

}  // namespace trireme::train
