// Helpers of the helm: means over the workers' reports, and the description of all processes for run.json.
// Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "strategy/common/strategy.h"
#include "train/helm/helm.h"

namespace trireme::train {

observe::StepSeconds mean_of(const std::vector<strategy::WorkerStepReport>& notes);
WorldOfRun world_of_run(const Helm::Context& place);

}  // namespace trireme::train
