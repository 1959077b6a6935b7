// CsvRecords: the records of a text table, split into fields, in bounded memory. A record is a line; line ends,
// separators and # inside "..." belong to the field, "" there is one quote (RFC 4180). Skips comments and empty lines.
// One thread at a time.
#pragma once

#include <cstdint>
#include <deque>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "data/codecs/decompress.h"

namespace trireme::data {

using CsvFields = std::vector<std::string_view>;

class CsvRecords {
 public:
  explicit CsvRecords(UnpackedReader& reader) : reader_(reader) {}

  // The fields of the next record, without surrounding spaces and quotes; false at the end. They are valid until the
  // next call.
  bool next(CsvFields& fields);
  std::int64_t line() const { return first_line_; }  // where the current record begins, from 1
  // Tab, ; or , (the first of these that the first record contains), else space. Known after the first record.
  char separator() const { return separator_; }

 private:
  struct Quotes {
    bool open = false, at_start = true;  // at_start: a quote here would open a quoted field
  };

  bool next_record(std::string_view& record);
  bool next_line_end(std::size_t& length);
  std::string_view without_comment(std::string_view line, Quotes& quotes) const;
  void split(std::string_view record, CsvFields& fields);
  std::string_view quoted_field(const char*& at, const char* end, std::size_t column);
  bool fill();

  UnpackedReader& reader_;
  std::vector<char> buffer_;
  std::size_t begin_ = 0, end_ = 0;  // unread: [begin_, end_)
  std::int64_t line_ = 0, first_line_ = 0;
  char separator_ = 0;
  bool ended_ = false;
  std::deque<std::string> unescaped_;  // fields of the current record that had quotes inside
};

// A table that can be read several times: a file, or one in memory.
struct TableFile {
  const CodecRegistry& codecs;
  std::filesystem::path path;
  const std::span<const std::uint8_t>* bytes = nullptr;  // null: the file

  UnpackedReader open() const {
    if (bytes) return {codecs, *bytes, path};
    return {codecs, path};
  }
};

}  // namespace trireme::data
