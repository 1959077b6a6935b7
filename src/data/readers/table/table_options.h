// TableOptions: what a user says about the columns of a table. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "base/text/options.h"

namespace trireme::data {

// How missing values are read: refused, or filled with the column's mean or with 0.
enum class MissingValues { refuse, mean, zero };

struct TableOptions {
  // Columns by their names in the header, or by number from 1.
  std::vector<std::string> targets{}, ignored{}, categories{};
  MissingValues missing = MissingValues::refuse;

  bool is_default() const {
    return targets.empty() && ignored.empty() && categories.empty() && missing == MissingValues::refuse;
  }
};

// From --target-column, --ignore-columns, --category-columns and --missing.
TableOptions table_options(const base::Settings& settings);

}  // namespace trireme::data
