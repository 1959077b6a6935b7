// Describes the columns of a text table for people and as JSON. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/readers/table/table_summary.h"

namespace trireme::data {

// A line per column: number, name, what it is for, numbers with least, most and mean or words with their counts, how
// many values are missing. `spec` is of the dataset that the table became; null: it became none.
std::vector<std::string> column_lines(const TableSummary& summary, const DataSpec* spec);

// The same as a JSON list with an object per column.
std::string columns_json(const TableSummary& summary, const DataSpec& spec);

}  // namespace trireme::data
