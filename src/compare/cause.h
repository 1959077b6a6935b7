// What a difference looks like: systems differ in conventions, and some leave a mark by which they are known.
#pragma once

#include <string>

#include "compare/levels/verdict.h"

namespace trireme::compare {

// A sentence, or nothing. `first` is what left the band; ours and reference are what both have found in that step,
// `before` the weights (weight.<parameter>) before it; `samples` of the batch.
std::string likely_cause(const Difference& first, const Tensors& ours, const Tensors& reference, const Tensors& before,
                         double samples);

}  // namespace trireme::compare
