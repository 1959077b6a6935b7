// CsvLines: the lines of a text file, in bounded memory, without comments and empty lines. One thread at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "data/codecs/decompress.h"

namespace trireme::data {

class CsvLines {
 public:
  explicit CsvLines(UnpackedReader& reader) : reader_(reader) {}

  // The next non-empty line, without comment, line end and surrounding spaces; false at the end. The text is valid
  // until the next call.
  bool next(std::string_view& line);
  std::int64_t number() const { return number_; }  // of the current line, from 1

 private:
  bool next_raw(std::string_view& line);
  bool fill();

  UnpackedReader& reader_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, searched_ = 0, end_ = 0;  // unread: [begin_, end_); no line end before searched_
  std::int64_t number_ = 0;
  bool ended_ = false;
};

// The field separator of a table: tab, ; or , (the first of these that the line contains), else space.
char find_separator(std::string_view line);

// Splits a line into fields, without surrounding spaces and quotes.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

}  // namespace trireme::data
