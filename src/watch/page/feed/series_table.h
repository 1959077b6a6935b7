// SeriesTable: rows of numbers over time, thinned out so that a long run stays small: when the table is full, pairs of
// rows become one, and from then on a row stands for twice as many.
// One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace trireme::watch {

// How rows that become one are joined.
enum class Joining { mean, last };

struct SeriesColumn {
  std::string name;
  Joining joining = Joining::mean;
};

class SeriesTable {
 public:
  static constexpr std::size_t kMostRows = 16384;

  // REQUIRES: at least one column.
  explicit SeriesTable(std::vector<SeriesColumn> columns, std::size_t most_rows = kMostRows)
      : columns_(std::move(columns)), most_rows_(most_rows) {}

  const std::vector<SeriesColumn>& columns() const { return columns_; }
  std::size_t rows() const { return values_.size() / columns_.size(); }
  double at(std::size_t row, std::size_t column) const { return values_[row * columns_.size() + column]; }
  // Rows given so far for each row of the table.
  std::int64_t every() const { return every_; }
  // Changes when rows that were there before are not any more.
  std::uint64_t generation() const { return generation_; }

  // The rows from `first` on as a JSON array of arrays. Many ask for the same ones, so the last answer is kept.
  const std::string& json_from(std::size_t first) const;

  // A number for each column, NaN where there is none. The row shows up when its share of rows is complete.
  void add(const std::vector<double>& row);
  void clear();

 private:
  void halve();

  std::vector<SeriesColumn> columns_;
  std::size_t most_rows_;
  std::vector<double> values_;         // row by row
  std::vector<double> sums_, counts_;  // of the row that is being collected
  std::int64_t every_ = 1, collected_ = 0;
  std::uint64_t generation_ = 1;
  struct Text {
    std::uint64_t generation = 0;
    std::size_t first = 0, rows = 0;
    std::string json;
  };
  mutable Text text_;  // the last answer of json_from()
};

}  // namespace trireme::watch
