#include "data/readers/table/csv_records.h"

#include <algorithm>
#include <cstring>

#include "base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kPieceBytes = std::size_t{1} << 16;
constexpr std::size_t kMaxLineBytes = std::size_t{16} << 20;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";

bool is_space(char c) { return c == ' ' || c == '\t' || c == '\r'; }

std::string_view trimmed(std::string_view text) {
  while (!text.empty() && is_space(text.front())) text.remove_prefix(1);
  while (!text.empty() && is_space(text.back())) text.remove_suffix(1);
  return text;
}

// Strips only spaces: a tab at either end is a separator beside an empty field.
std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

std::string_view without_apostrophes(std::string_view field) {
  if (field.size() >= 2 && field.front() == '\'' && field.back() == '\'') return field.substr(1, field.size() - 2);
  return field;
}

bool has(std::string_view text, char c) { return !text.empty() && std::memchr(text.data(), c, text.size()) != nullptr; }

char find_separator(std::string_view record) {
  for (const char separator : {'\t', ';', ','}) {
    bool quoted = false;
    for (std::size_t i = 0; i < record.size(); ++i) {
      const bool at_start = i == 0 || std::string_view(" \t;,").find(record[i - 1]) != std::string_view::npos;
      if (record[i] == '"' && (quoted || at_start)) quoted = !quoted;
      if (record[i] == separator && !quoted) return separator;
    }
  }
  return ' ';
}

}  // namespace

// Appends more of the file to the unread text; false at the file's end.
bool CsvRecords::fill() {
  if (end_ - begin_ > kMaxLineBytes)
    base::user_error("{}: line {} is longer than {} bytes; is it a table of text, or a quote that is not closed?",
                     reader_.path().string(), first_line_, kMaxLineBytes);
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kPieceBytes) buffer_.resize(2 * buffer_.size() + kPieceBytes);
  const std::size_t got = reader_.read(reinterpret_cast<std::uint8_t*>(buffer_.data() + end_), kPieceBytes);
  end_ += got;
  return got > 0;
}

// Sets length, the end of a line counted from begin_, to the end of the next one; false if no line follows.
bool CsvRecords::next_line_end(std::size_t& length) {
  for (std::size_t searched = length;;) {
    const char* from = buffer_.data() + begin_ + searched;
    const std::size_t left = end_ - begin_ - searched;
    const void* found = left > 0 ? std::memchr(from, '\n', left) : nullptr;
    if (found || (ended_ && length < end_ - begin_)) {
      length = found ? searched + static_cast<std::size_t>(static_cast<const char*>(found) - from) : end_ - begin_;
      ++line_;
      return true;
    }
    if (ended_) return false;
    searched = end_ - begin_;
    ended_ = !fill();
  }
}

// The line up to a # that no quotes surround; says whether a quoted field goes on behind the line.
std::string_view CsvRecords::without_comment(std::string_view line, Quotes& quotes) const {
  for (std::size_t i = 0; i < line.size(); ++i) {
    const char c = line[i];
    if (quotes.open) {
      if (c != '"') continue;
      if (i + 1 < line.size() && line[i + 1] == '"')
        ++i;
      else
        quotes.open = false;
      continue;
    }
    if (c == '#') return line.substr(0, i);
    if (c == '"' && quotes.at_start)
      quotes.open = true;
    else if (separator_ != 0 ? c == separator_ : c == ';' || c == ',')
      quotes.at_start = true;
    else if (!is_space(c))
      quotes.at_start = false;
    else if (separator_ == 0 || separator_ == ' ')
      quotes.at_start = true;
    if (quotes.open) quotes.at_start = false;
  }
  return line;
}

bool CsvRecords::next_record(std::string_view& record) {
  std::size_t length = 0, done = 0;
  first_line_ = line_ + 1;
  if (!next_line_end(length)) return false;
  std::string_view line(buffer_.data() + begin_, length);
  if (line_ == 1 && line.starts_with(kByteOrderMark)) {
    begin_ += kByteOrderMark.size();
    length -= kByteOrderMark.size();
    line.remove_prefix(kByteOrderMark.size());
  }
  if (!has(line, '"')) {  // the fast path
    if (const void* comment = line.empty() ? nullptr : std::memchr(line.data(), '#', line.size()))
      line = line.substr(0, static_cast<std::size_t>(static_cast<const char*>(comment) - line.data()));
  } else {
    Quotes quotes;
    for (;;) {
      const std::string_view rest = without_comment(line.substr(done), quotes);
      line = line.substr(0, done + rest.size());
      if (!quotes.open) break;
      done = ++length;  // the line end is part of the field
      if (begin_ + length > end_ || !next_line_end(length))
        base::user_error("{}, line {}: a quote (\") is not closed", reader_.path().string(), first_line_);
      line = {buffer_.data() + begin_, length};
    }
  }
  begin_ = std::min(begin_ + length + 1, end_);
  record = line;
  return true;
}

// A field in quotes; moves `at` behind it and the spaces that follow.
std::string_view CsvRecords::quoted_field(const char*& at, const char* end, std::size_t column) {
  const char* begin = ++at;
  bool escaped = false;
  for (; at < end && (*at != '"' || (at + 1 < end && at[1] == '"')); ++at)
    if (*at == '"') {
      escaped = true;
      ++at;
    }
  std::string_view field(begin, static_cast<std::size_t>(at - begin));
  if (at < end) ++at;
  const bool ends = at == end || *at == separator_ || is_space(*at);
  while (at < end && is_space(*at) && *at != separator_) ++at;
  if (!ends || (at < end && *at != separator_ && separator_ != ' '))
    base::user_error("{}, line {}, column {}: text behind a closing quote; write \"\" for a quote inside a field",
                     reader_.path().string(), first_line_, column + 1);
  if (!escaped) return field;
  std::string& plain = unescaped_.emplace_back();
  for (std::size_t i = 0; i < field.size(); ++i) {
    plain += field[i];
    if (field[i] == '"') ++i;
  }
  return plain;
}

void CsvRecords::split(std::string_view record, CsvFields& fields) {
  fields.clear();
  const char* at = record.data();
  const char* const end = at + record.size();
  if (separator_ == ' ') {
    while (at < end) {
      const char* begin = at;
      if (*at == '"') {
        fields.push_back(quoted_field(at, end, fields.size()));
      } else {
        while (at < end && !is_space(*at)) ++at;
        fields.push_back(without_apostrophes({begin, static_cast<std::size_t>(at - begin)}));
      }
      while (at < end && is_space(*at)) ++at;
    }
    return;
  }
  for (;;) {
    const char* begin = at;
    while (at < end && is_space(*at) && *at != separator_) ++at;
    if (at < end && *at == '"') {
      fields.push_back(quoted_field(at, end, fields.size()));
    } else {
      while (at < end && *at != separator_) ++at;
      fields.push_back(without_apostrophes(trimmed({begin, static_cast<std::size_t>(at - begin)})));
    }
    if (at == end) return;
    ++at;
  }
}

bool CsvRecords::next(CsvFields& fields) {
  unescaped_.clear();
  for (std::string_view record; next_record(record);) {
    record = without_spaces(record);
    if (trimmed(record).empty()) continue;
    if (separator_ == 0) separator_ = find_separator(record);
    split(record, fields);
    return true;
  }
  return false;
}

}  // namespace trireme::data
