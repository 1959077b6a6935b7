// This program's `train` as a process of its own.
#pragma once

#include <map>
#include <string>
#include <vector>

namespace trireme::peer {

using TrainOptions = std::map<std::string, std::string>;  // name without dashes -> value

// Waits for its end; the summary, one JSON object. A run that fails is a run error with its words.
std::string run_train(const TrainOptions& options, const std::vector<int>& cpus = {});

}  // namespace trireme::peer
