// Tables without their target column, to predict. Thread-safe.
#pragma once

#include <optional>

#include "data/readers/data_request.h"

namespace trireme::data {

// The rows of a table that has the columns of request.schema but no target; without a schema, of a table with as many
// columns as the network has inputs (request.wanted_inputs). No value for any other table: it has a target, or does not
// fit.
std::optional<DataPair> open_unlabelled_table(const DataRequest& request);

}  // namespace trireme::data
