#include "base/text/text.h"

#include <fmt/core.h>

#include <charconv>
#include <cmath>

#include "base/error.h"
#include "base/text/nearest.h"

namespace trireme::base {

std::vector<std::string> split(std::string_view text, char separator) {
  std::vector<std::string> parts;
  if (text.empty()) return parts;
  std::size_t begin = 0;
  for (;;) {
    const std::size_t end = text.find(separator, begin);
    parts.emplace_back(text.substr(begin, end - begin));
    if (end == std::string_view::npos) return parts;
    begin = end + 1;
  }
}

std::string join(std::span<const std::string> parts, std::string_view separator) {
  std::string all;
  for (std::size_t i = 0; i < parts.size(); ++i) {
    if (i > 0) all += separator;
    all += parts[i];
  }
  return all;
}

std::string join_or(std::span<const std::string> words) {
  if (words.size() < 2) return join(words, "");
  return join(words.first(words.size() - 1), ", ") + " or " + words.back();
}

std::string_view without_tag(std::string_view message) {
  const std::size_t end = message.starts_with('[') ? message.find("] ") : std::string_view::npos;
  return end == std::string_view::npos ? message : message.substr(end + 2);
}

std::int64_t parse_int(std::string_view what, std::string_view text) {
  std::int64_t value = 0;
  const auto [end, cause] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (cause == std::errc::result_out_of_range && end == text.data() + text.size())
    user_error("{} is '{}', a whole number of at most 19 digits was expected", what, text);
  if (cause != std::errc() || end != text.data() + text.size() || text.empty())
    user_error("{} is '{}', a whole number was expected", what, text);
  return value;
}

double parse_double(std::string_view what, std::string_view text) {
  double value = 0;
  const auto [end, cause] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (cause != std::errc() || end != text.data() + text.size() || text.empty() || !std::isfinite(value))
    user_error("{} is '{}', a number was expected", what, text);
  return value;
}

double parse_fraction(std::string_view what, std::string_view text) {
  const bool percent = text.ends_with('%');
  const double value = percent ? parse_double(what, text.substr(0, text.size() - 1)) / 100 : parse_double(what, text);
  if (value < 0 || value > 1) user_error("{} is '{}', expected 0% ... 100% (or 0 ... 1)", what, text);
  return value;
}

Spec::Spec(std::string_view what, std::string_view text) : what_(what) {
  const std::size_t colon = text.find(':');
  name_ = text.substr(0, colon);
  if (colon == std::string_view::npos) return;
  for (const std::string& option : split(text.substr(colon + 1), ',')) {
    const std::size_t equals = option.find('=');
    const std::string key = option.substr(0, equals);
    for (const auto& [given, ignored] : options_)
      if (given == key) user_error("{} '{}' names '{}' twice", what, text, key);
    options_.emplace_back(key, equals == std::string::npos ? "" : option.substr(equals + 1));
  }
}

const std::string* Spec::find(const std::string& key) {
  known_.insert(key);
  for (const auto& [name, value] : options_)
    if (name == key) return &value;
  return nullptr;
}

double Spec::number(const std::string& key, double otherwise) {
  const std::string* value = find(key);
  return value ? parse_double(fmt::format("{} option {}:{}", what_, name_, key), *value) : otherwise;
}

std::int64_t Spec::integer(const std::string& key, std::int64_t otherwise) {
  const std::string* value = find(key);
  return value ? parse_int(fmt::format("{} option {}:{}", what_, name_, key), *value) : otherwise;
}

bool Spec::flag(const std::string& key, bool otherwise) {
  const std::string* value = find(key);
  if (!value) return otherwise;
  if (value->empty() || *value == "true" || *value == "1" || *value == "yes") return true;
  if (*value == "false" || *value == "0" || *value == "no") return false;
  user_error("{} option {}:{} is '{}', expected yes or no", what_, name_, key, *value);
}

std::string Spec::word(const std::string& key, const std::string& otherwise) {
  const std::string* value = find(key);
  return value ? *value : otherwise;
}

std::vector<std::pair<std::string, std::string>> Spec::all() {
  for (const auto& [key, value] : options_) known_.insert(key);
  return options_;
}

void Spec::finish() const {
  const std::vector<std::string> known(known_.begin(), known_.end());
  for (const auto& [key, value] : options_)
    if (!known_.contains(key)) {
      if (known.empty()) user_error("{} '{}' takes no options, but was given '{}'", what_, name_, key);
      user_error("{}", unknown_name(fmt::format("option of {} '{}' called", what_, name_), key, known));
    }
}

std::string human_bytes(double bytes) {
  const char* units[] = {"B", "KB", "MB", "GB", "TB"};
  int unit = 0;
  while (bytes >= 1000 && unit < 4) {
    bytes /= 1000;
    ++unit;
  }
  return fmt::format("{:.{}f} {}", bytes, unit == 0 ? 0 : 1, units[unit]);
}

std::string counted(std::int64_t number, std::string_view what) {
  return fmt::format("{} {}{}", number, what, number == 1 ? "" : "s");
}

std::string human_seconds(double seconds) {
  if (!(seconds >= 0) || !std::isfinite(seconds)) return "?";
  if (seconds > 0 && seconds < 0.1) return fmt::format("{:.1f} ms", 1000 * seconds);
  if (seconds < 60) return fmt::format("{:.1f} s", seconds);
  const auto whole = static_cast<std::int64_t>(std::llround(seconds));
  if (whole < 3600) return fmt::format("{}:{:02d}", whole / 60, whole % 60);
  return fmt::format("{}:{:02d}:{:02d}", whole / 3600, whole / 60 % 60, whole % 60);
}

}  // namespace trireme::base
