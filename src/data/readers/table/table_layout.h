// TableLayout: which column of one file is which column of a schema. Thread-safe.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "data/dataset/table_schema.h"
#include "data/readers/table/csv_records.h"

namespace trireme::data {

// The beginning of a table.
struct TableFront {
  std::string where;                       // the file, for messages
  std::vector<std::string> first, second;  // fields of the first two records; empty: there is none
  std::int64_t line = 0;                   // of the first record
  char separator = ',';
};

// An empty table is a user error.
TableFront read_front(const TableFile& file);

// Is the first record a header? Words above a number are one, and numbers never are; of words above words the answer is
// `unsure`, unless one of them is a known name.
enum class HeaderFound { no, yes, unsure };
HeaderFound find_header(const TableFront& front, const std::vector<std::string>& known_names);

struct TableLayout {
  bool has_header = false;
  std::size_t width = 0;
  std::vector<std::size_t> inputs, targets;  // columns of the file in the schema's order; no targets: it has none
  std::vector<std::string> notes{};          // columns that are ignored
};

// By name where both have a header, else by place: the file may lack ignored columns and targets. Columns that are
// missing are a user error; `table` is what the schema was found in, for messages.
TableLayout lay_out(const TableSchema& schema, const TableFront& front, const std::string& table);

}  // namespace trireme::data
