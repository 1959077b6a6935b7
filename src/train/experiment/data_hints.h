// data_hints(): what in a training set hints at a mistake, for the user. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/normalization.h"
#include "data/dataset/target_scale.h"

namespace trireme::train {

// Sentences about data of the user's own: nearly as many classes as samples (they are numbers to be learnt as values),
// columns and targets whose values differ by less than float32 tells apart. A single class is a user error.
std::vector<std::string> data_hints(const data::Dataset& training_set, const data::Normalization& normalization,
                                    const data::TargetScale& targets);

}  // namespace trireme::train
