// Reads the options about the columns of a table. Thread-safe.
#pragma once

#include "data/readers/data_request.h"

namespace trireme::base {
class Settings;
}

namespace trireme::data {

// From --target-column, --ignore-columns, --category-columns and --missing.
TableOptions table_options(const base::Settings& settings);

}  // namespace trireme::data
