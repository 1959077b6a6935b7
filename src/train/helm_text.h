// What the helm writes down: lines of metrics, and what run.json says about the processes.
#pragma once

#include <string>
#include <vector>

#include "strategy/strategy.h"
#include "train/helm.h"

namespace trireme::train {

inline constexpr int kHelmLane = 0;
inline constexpr int kHelmInTrace = 1000;  // its process there, which no rank has

std::string step_line(std::int64_t step, std::int64_t epoch, double loss, double accuracy, double lr,
                      const strategy::StepSeconds& seconds);
strategy::StepSeconds mean_of(const std::vector<strategy::Note>& notes);
WorldOfRun world_of_run(const Helm::Place& place);

}  // namespace trireme::train
