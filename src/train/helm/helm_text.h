// What the helm makes of what it hears: means over workers, and what run.json says about the processes.
#pragma once

#include <string>
#include <vector>

#include "strategy/common/strategy.h"
#include "train/helm/helm.h"

namespace trireme::train {

observe::StepSeconds mean_of(const std::vector<strategy::WorkerStepReport>& notes);
WorldOfRun world_of_run(const Helm::Context& place);

}  // namespace trireme::train
