// Computes the Normalization (value -> (value - mean) / divisor) of a training set; prepare.h applies it to the
// training and the test set. Kinds:
//   standard  per channel, and per column of a table: minus its mean, divided by its standard deviation
//   mean      minus the mean per colour (several channels) or per pixel (one channel), then / 255
//   scale     / 255
//   none      unchanged
// Thread-safe.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/normalization.h"

namespace trireme::data {

// standard and mean read every sample once, in order. Sums are doubles added in a fixed order; for byte images they are
// whole numbers below 2^53, hence exact. An unknown kind is a user error that names the nearest one.
Normalization compute_normalization(const DatasetPtr& source, std::string_view kind);

std::vector<std::string> normalization_kinds();

}  // namespace trireme::data
