// Splits a test set off data that has none. Thread-safe.
#pragma once

#include <cstdint>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Takes part of the samples, chosen by the seed, as the test set; adds a note that says so.
DataPair with_test_share(const DatasetPtr& all, std::uint64_t seed);

}  // namespace trireme::data
