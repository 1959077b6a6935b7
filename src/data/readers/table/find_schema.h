// Finds the schema of a training table: which columns are inputs and targets, and what they hold. Thread-safe.
#pragma once

#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/table_schema.h"
#include "data/readers/data_request.h"
#include "data/readers/table/table_layout.h"
#include "data/readers/table/table_summary.h"

namespace trireme::data {

// The header's words that find_header() should know: those that the options name, and label, class and target.
std::vector<std::string> expected_names(const TableFront& front, const TableOptions& options);

// The schema of a table whose inputs are all numbers. The targets are the columns that the options name, else the one
// that the header calls label, class or target, else the last. A mistake in the options is a user error.
TableSchema schema_of_numbers(const TableFront& front, bool has_header, const TableOptions& options, TargetKind kind);

// Completes it by what the columns hold: the words of categories, what fills missing values. Columns that are neither
// numbers nor a category, and missing values where they are refused, are user errors.
void complete_schema(TableSchema& schema, const TableSummary& summary, const TableOptions& options);

// The names of a vector of targets or of labels; empty where the header has none, or there is one target.
std::vector<std::string> target_names(const TableSchema& schema, TargetKind kind);

// "12 columns separated by ';', a header, target 'price', words in 'colour' and 'size': 17 inputs".
std::string schema_text(const TableSchema& schema, const TableFront& front);

}  // namespace trireme::data
