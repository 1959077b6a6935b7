// TableSchema: how the columns of a text table become the values of a sample. It is found in the training table, and
// stored with the run and in packed files, so that other tables are read in the same way. Immutable once made;
// thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

struct TableColumn {
  std::string name{};                // of the header; empty: none
  std::int64_t place = 0;            // in the table, from 0
  std::vector<std::string> words{};  // of a category, sorted: one input of 0 or 1 each; empty: the column has numbers
  // Stands for a missing number; a missing word has 0 in all its inputs. Empty: a missing value is refused.
  std::optional<float> fill{};

  bool operator==(const TableColumn&) const = default;
};

struct TableSchema {
  std::int64_t width = 0;  // columns of the table, unused ones included
  bool has_names = false;  // a header gave every column its own name
  std::vector<TableColumn> inputs, targets;
  std::vector<std::string> ignored{};  // the names of the other columns, where there is a header

  bool operator==(const TableSchema&) const = default;
};

// The number of values that the inputs become.
std::int64_t input_values(const TableSchema& schema);

// True if both give the same columns the same inputs, wherever the columns are in their tables.
bool make_same_inputs(const TableSchema& a, const TableSchema& b);

// True if the schema says no more than the number of columns: numbers without names, the target last.
bool is_plain(const TableSchema& schema);

// "column 3 ('price')", "column 3".
std::string column_text(const TableColumn& column);

// As JSON, and back. Text that to_json() did not write is a std::exception.
std::string to_json(const TableSchema& schema);
TableSchema schema_from_json(std::string_view text);

}  // namespace trireme::data
