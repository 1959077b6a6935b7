// same-bits: what our promise is, over threads, workers and synchronous strategies.
#pragma once

#include "compare/levels/verdict.h"
#include "compare/sides/our_runs.h"

namespace trireme::compare {

// `sha256`: of the weights of one worker with one thread after all steps.
Level same_bits(const train::Experiment& experiment, const OurRuns& runs, const std::string& sha256);

}  // namespace trireme::compare
