#include "watch/page/feed/series_table.h"

#include <fmt/format.h>

#include <cmath>
#include <iterator>
#include <limits>

namespace trireme::watch {

void SeriesTable::add(const std::vector<double>& row) {
  const std::size_t width = columns_.size();
  if (collected_ == 0) {
    sums_.assign(width, 0);
    counts_.assign(width, 0);
  }
  for (std::size_t c = 0; c < width; ++c) {
    const double value = c < row.size() ? row[c] : std::numeric_limits<double>::quiet_NaN();
    if (std::isnan(value)) continue;
    const bool adds = columns_[c].joining == Joining::mean;
    sums_[c] = adds ? sums_[c] + value : value;
    counts_[c] = adds ? counts_[c] + 1 : 1;
  }
  if (++collected_ < every_) return;
  collected_ = 0;
  for (std::size_t c = 0; c < width; ++c) values_.push_back(sums_[c] / counts_[c]);  // NaN where there was nothing
  if (rows() >= most_rows_) halve();
}

const std::string& SeriesTable::json_from(std::size_t first) const {
  if (text_.generation == generation_ && text_.first == first && text_.rows == rows()) return text_.json;
  std::string json = "[";
  for (std::size_t row = first; row < rows(); ++row) {
    json += row == first ? "[" : ",[";
    for (std::size_t column = 0; column < columns_.size(); ++column) {
      if (column > 0) json += ',';
      const double value = at(row, column);
      if (std::abs(value) >= 1e6 && std::isfinite(value))  // steps, bytes, Unix times in milliseconds
        fmt::format_to(std::back_inserter(json), "{:.14g}", value);
      else if (std::isfinite(value))
        fmt::format_to(std::back_inserter(json), "{:.7g}", value);
      else
        json += "null";
    }
    json += ']';
  }
  text_ = {generation_, first, rows(), json + "]"};
  return text_.json;
}

void SeriesTable::halve() {
  const std::size_t width = columns_.size(), pairs = rows() / 2;
  for (std::size_t pair = 0; pair < pairs; ++pair)
    for (std::size_t c = 0; c < width; ++c) {
      const double a = at(2 * pair, c), b = at(2 * pair + 1, c);
      double& joined = values_[pair * width + c];
      if (columns_[c].joining == Joining::last || std::isnan(a))
        joined = std::isnan(b) ? a : b;
      else
        joined = std::isnan(b) ? a : (a + b) / 2;
    }
  values_.resize(pairs * width);
  every_ *= 2;
  ++generation_;
}

void SeriesTable::clear() {
  values_.clear();
  every_ = 1;
  collected_ = 0;
  ++generation_;
}

}  // namespace trireme::watch
