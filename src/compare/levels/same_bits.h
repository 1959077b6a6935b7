// same-bits: checks that the weights are bit-identical over thread counts, worker counts and synchronous strategies.
#pragma once

#include "compare/levels/verdict.h"
#include "compare/sides/our_runs.h"

namespace trireme::compare {

// `sha256`: the weights of a run with one worker and one thread, after all steps.
Level same_bits(const train::Experiment& experiment, const OurRuns& runs, const std::string& sha256);

}  // namespace trireme::compare
