// Runs this program's `train` in a process of its own. Thread-safe.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace trireme::peer {

using TrainOptions = std::map<std::string, std::string>;  // name without dashes -> value

// Waits for its end and returns its summary (one JSON object). A failed run is a run error with its error message.
std::string run_train(const TrainOptions& options, const std::vector<int>& cpus = {});

}  // namespace trireme::peer
