// Subset: a stage that selects samples. The wrapped dataset sees its own sample indices, so augmentation below the
// subset draws the same for a sample in every subset. Thread-safe.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The samples with these indices, in this order.
DatasetPtr subset(DatasetPtr source, std::vector<std::int64_t> indices);

// The first n samples, or all if there are fewer; n < 1 is a user error.
DatasetPtr limit(DatasetPtr source, std::int64_t n);

// Splits off a validation set of round(fraction * size) samples, chosen by (seed, size) alone. Both parts keep the
// source's order. The validation set is the pair's `test`. An empty part is a user error.
DataPair split_validation(const DatasetPtr& train, double fraction, std::uint64_t seed);

// The same by class: fraction * samples of every class, rounded so that the sum is right, at least 1 and at most all
// but
// 1. A class with a single sample stays in the training set. REQUIRES: the targets are classes.
DataPair split_by_class(const DatasetPtr& train, double fraction, std::uint64_t seed);

}  // namespace trireme::data
