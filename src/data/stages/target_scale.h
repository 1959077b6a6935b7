// The stage that hands out targets of values as they are learnt, and the scale that it needs. Thread-safe.
#pragma once

#include "data/dataset/dataset.h"
#include "data/dataset/target_scale.h"

namespace trireme::data {

// The mean and standard deviation of every value, in double and in the order of the samples: the same numbers wherever
// they are computed. A value that never changes gets the deviation 1. REQUIRES: targets of values, one sample or more.
TargetScale compute_target_scale(const Dataset& source);

// A scale of other targets is a user error.
void check_target_scale(const TargetScale& scale, const DataSpec& spec);

// The same samples with standardised targets; the source itself if the scale is none.
DatasetPtr scale_targets(DatasetPtr source, TargetScale scale);

}  // namespace trireme::data
