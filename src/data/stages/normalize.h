// Normalization: value -> (value - mean) / divisor, applied in prepare.h. The statistics come from the training set and
// are applied to the test set too. Kinds:
//   standard  per channel: minus its mean, divided by its standard deviation
//   mean      minus the mean per colour (several channels) or per pixel (one channel), then / 255
//   scale     / 255
//   none      as it is
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/normalization.h"

namespace trireme::data {

// Reads every sample once, in order (for standard and mean). Sums are doubles in a fixed order; for byte images they
// are whole numbers below 2^53 and so exact. An unknown kind is a user error with the nearest one.
Normalization compute_normalization(const DatasetPtr& source, std::string_view kind);

std::vector<std::string> normalization_kinds();

}  // namespace trireme::data
