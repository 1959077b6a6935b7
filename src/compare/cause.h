// Guesses the cause of a difference: systems differ in conventions, and some conventions leave a recognisable mark.
// Pure functions; thread-safe.
#pragma once

#include <string>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// Returns a sentence, or an empty string. `first`: the difference that left its band. `ours`, `reference`: results of
// both sides in that step. `before`: the weights (weight.<parameter>) before it. `samples`: of the batch.
std::string likely_cause(const Difference& first, const Tensors& ours, const Tensors& reference, const Tensors& before,
                         double samples);

}  // namespace trireme::compare
