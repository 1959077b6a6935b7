// Subset: a view of chosen samples. The wrapped dataset sees its own sample indices, so what is drawn for a sample
// (augmentation below the subset) does not depend on which subset asks for it.
#pragma once

#include <cstdint>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The samples with these indices, in this order.
DatasetPtr subset(DatasetPtr source, std::vector<std::int64_t> indices);

// The first n samples (all, when there are no more than n); n < 1 is a user error.
DatasetPtr limit(DatasetPtr source, std::int64_t n);

// Splits off a validation set of round(fraction * size) samples, chosen by (seed, size) alone; both parts keep the
// source's order. `test` of the pair is the validation set. Neither part may be empty (user error).
DataPair split_validation(const DatasetPtr& train, double fraction, std::uint64_t seed);

}  // namespace trireme::data
