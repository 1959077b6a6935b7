// The lines of a text file, one after another, in bounded memory; comments are cut off and empty lines left out.
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

  // The next line with content, without comment, line end and spaces around it; false at the end. The text holds until
  // the next call.
  bool next(std::string_view& line);
  std::int64_t number() const { return number_; }  // of the line, from 1

 private:
  bool next_raw(std::string_view& line);
  bool fill();

  UnpackedReader& reader_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, searched_ = 0, end_ = 0;  // what is not read yet, and how far no line end was found
  std::int64_t number_ = 0;
  bool ended_ = false;
};

// What separates the fields of a table: a tab, ; or , (the first of these that a line has), else spaces.
char find_separator(std::string_view line);

// The fields of a line, without spaces and quotes around them.
void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields);

}  // namespace trireme::data
