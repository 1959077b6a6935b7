// Splits a test set off data that has none. Thread-safe.
#pragma once

#include "data/readers/data_request.h"

namespace trireme::data {

// Takes part of the samples, chosen by the request's seed, as the test set; adds a note that says so. A request for
// whole data gets all samples as both sets.
DataPair with_test_share(const DatasetPtr& all, const DataRequest& request);

}  // namespace trireme::data
