// A test set for data that has none of its own.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Part of the samples as the test set, chosen by the seed, where files have none of their own; with a note that says
// so.
DataPair with_test_share(const DatasetPtr& all, std::uint64_t seed);

}  // namespace trireme::data
