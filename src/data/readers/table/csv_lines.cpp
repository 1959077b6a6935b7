#include "data/readers/table/csv_lines.h"

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

std::string_view unquoted(std::string_view field) {
  if (field.size() >= 2 && field.front() == field.back() && (field.front() == '"' || field.front() == '\''))
    return field.substr(1, field.size() - 2);
  return field;
}

}  // namespace

// Appends more of the file to the unread text; false at the file's end.
bool CsvLines::fill() {
  if (end_ - begin_ > kMaxLineBytes)
    base::user_error("{}: line {} is longer than {} bytes; is it a table of text?", reader_.path().string(),
                     number_ + 1, kMaxLineBytes);
  if (begin_ > 0) {
    std::memmove(buffer_.data(), buffer_.data() + begin_, end_ - begin_);
    searched_ -= begin_;
    end_ -= begin_;
    begin_ = 0;
  }
  if (buffer_.size() - end_ < kPieceBytes) buffer_.resize(2 * buffer_.size() + kPieceBytes);
  const std::size_t got = reader_.read(reinterpret_cast<std::uint8_t*>(buffer_.data() + end_), kPieceBytes);
  end_ += got;
  return got > 0;
}

bool CsvLines::next_raw(std::string_view& line) {
  for (;;) {
    const char* from = buffer_.data() + searched_;
    const void* found = end_ > searched_ ? std::memchr(from, '\n', end_ - searched_) : nullptr;
    if (found || (ended_ && begin_ < end_)) {
      const std::size_t stop =
          found ? searched_ + static_cast<std::size_t>(static_cast<const char*>(found) - from) : end_;
      line = {buffer_.data() + begin_, stop - begin_};
      begin_ = searched_ = found ? stop + 1 : stop;
      ++number_;
      return true;
    }
    if (ended_) return false;
    searched_ = end_;
    ended_ = !fill();
  }
}

bool CsvLines::next(std::string_view& line) {
  while (next_raw(line)) {
    if (number_ == 1 && line.starts_with(kByteOrderMark)) line.remove_prefix(kByteOrderMark.size());
    if (const void* comment = line.empty() ? nullptr : std::memchr(line.data(), '#', line.size()))
      line = line.substr(0, static_cast<std::size_t>(static_cast<const char*>(comment) - line.data()));
    line = without_spaces(line);
    if (!trimmed(line).empty()) return true;
  }
  return false;
}

char find_separator(std::string_view line) {
  for (const char separator : {'\t', ';', ','})
    if (line.find(separator) != std::string_view::npos) return separator;
  return ' ';
}

void split_fields(std::string_view line, char separator, std::vector<std::string_view>& fields) {
  fields.clear();
  const char* at = line.data();
  const char* const end = at + line.size();
  if (separator == ' ') {
    while (at < end) {
      const char* begin = at;
      while (at < end && !is_space(*at)) ++at;
      fields.push_back(unquoted({begin, static_cast<std::size_t>(at - begin)}));
      while (at < end && is_space(*at)) ++at;
    }
    return;
  }
  for (;;) {
    const char* begin = at;
    while (at < end && *at != separator) ++at;
    fields.push_back(unquoted(trimmed({begin, static_cast<std::size_t>(at - begin)})));
    if (at == end) return;
    ++at;
  }
}

}  // namespace trireme::data
