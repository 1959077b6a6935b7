// TableSummary: what a text table holds, column by column. Thread-safe.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "data/readers/table/csv_records.h"

namespace trireme::data {

inline constexpr std::size_t kMostWords = 1000;  // of a column; a category has an input for each

struct ColumnSummary {
  // A field of a kind that the column has, and where the first one is.
  struct Seen {
    std::int64_t fields = 0, line = 0;
    std::string text{};  // of the first
  };
  enum class Kind { numbers, words, mixed, empty };

  std::string name{};  // of the header; empty: none
  Seen numbers, words, missing, decimal_commas;
  Seen dashes;                       // counted as words or as missing, too
  double min = 0, max = 0, sum = 0;  // of the numbers
  bool is_whole = true;              // all numbers are whole
  // How often each spelling of a number or word occurs; empty if there are more than kMostWords.
  std::map<std::string, std::int64_t, std::less<>> counts{};
  bool has_many = false;
  bool has_long_text = false;

  Kind kind() const;
  double mean() const { return numbers.fields > 0 ? sum / static_cast<double>(numbers.fields) : 0; }
};

struct TableSummary {
  std::string where;
  char separator = ',';
  bool has_header = false;
  std::int64_t rows = 0;
  std::vector<ColumnSummary> columns;
};

// Reads the whole table. Only a table that is empty, or whose lines differ in length, is a user error. `has_header`:
// as known; if empty, it is found.
TableSummary describe_table(const TableFile& file, std::optional<bool> has_header = {});

// The same for a file, plain or packed.
TableSummary describe_table(const std::filesystem::path& path);

// "numbers", "words", "numbers and words", "empty".
const char* kind_text(ColumnSummary::Kind kind);

}  // namespace trireme::data
