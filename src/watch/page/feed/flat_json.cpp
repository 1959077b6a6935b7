#include "watch/page/feed/flat_json.h"

#include <charconv>
#include <limits>

namespace trireme::watch {
namespace {

bool is_blank(char c) { return c == ' ' || c == '\t' || c == '\r' || c == '\n'; }

std::size_t skip_blanks(std::string_view text, std::size_t at) {
  while (at < text.size() && is_blank(text[at])) ++at;
  return at;
}

// Behind the string that begins at `at`; npos if it does not end.
std::size_t end_of_string(std::string_view text, std::size_t at) {
  for (++at; at < text.size(); ++at) {
    if (text[at] == '\\')
      ++at;
    else if (text[at] == '"')
      return at + 1;
  }
  return std::string_view::npos;
}

// Behind the value that begins at `at`: the comma or bracket that follows it; npos if it does not end.
std::size_t end_of_value(std::string_view text, std::size_t at) {
  int depth = 0;
  while (at < text.size()) {
    const char c = text[at];
    if (c == '"') {
      at = end_of_string(text, at);
      if (at == std::string_view::npos) return at;
      continue;
    }
    if (depth == 0 && (c == ',' || c == '}' || c == ']')) return at;
    if (c == '{' || c == '[') ++depth;
    if (c == '}' || c == ']') --depth;
    ++at;
  }
  return std::string_view::npos;
}

std::string_view without_blanks(std::string_view text) {
  while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
  return text;
}

}  // namespace

bool for_each_member(std::string_view object,
                     const std::function<void(std::string_view name, std::string_view value)>& take) {
  std::size_t at = skip_blanks(object, 0);
  if (at >= object.size() || object[at] != '{') return false;
  at = skip_blanks(object, at + 1);
  if (at < object.size() && object[at] == '}') return true;
  while (at < object.size() && object[at] == '"') {
    const std::size_t name = at + 1, after_name = end_of_string(object, at);
    if (after_name == std::string_view::npos) return false;
    at = skip_blanks(object, after_name);
    if (at >= object.size() || object[at] != ':') return false;
    at = skip_blanks(object, at + 1);
    const std::size_t end = end_of_value(object, at);
    if (end == std::string_view::npos || object[end] == ']') return false;
    take(object.substr(name, after_name - 1 - name), without_blanks(object.substr(at, end - at)));
    if (object[end] == '}') return true;
    at = skip_blanks(object, end + 1);
  }
  return false;
}

double number_of(std::string_view value) {
  double number = 0;
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
  return error == std::errc() && end == value.data() + value.size() ? number : std::numeric_limits<double>::quiet_NaN();
}

std::string_view plain_text_of(std::string_view value) {
  if (value.size() < 2 || value.front() != '"' || value.back() != '"') return {};
  return value.substr(1, value.size() - 2);
}

}  // namespace trireme::watch
