#include "data/readers/table/csv_values.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"

namespace trireme::data {
namespace {

constexpr std::size_t kShownText = 30, kShownFields = 8;
constexpr std::array<std::string_view, 7> kMissing = {"", "?", "na", "n/a", "nan", "null", "none"};

// Values beyond float's range become infinite (huge) or 0 (tiny).
float clamped(std::string_view field) {
  double wide = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), wide);
  if (error == std::errc()) return static_cast<float>(wide);
  return field.find("e-") == std::string_view::npos && field.find("E-") == std::string_view::npos ? HUGE_VALF : 0.0f;
}

}  // namespace

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_missing(std::string_view field) {
  return field.size() <= 4 && std::find(kMissing.begin(), kMissing.end(), lower(field)) != kMissing.end();
}

std::string shown(std::string_view field) {
  std::string text(field.substr(0, kShownText));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text + (field.size() > kShownText ? "..." : "");
}

std::string shown_list(const std::vector<std::string>& fields) {
  std::string text;
  for (std::size_t i = 0; i < std::min(fields.size(), kShownFields); ++i)
    text += fmt::format("{}'{}'", i > 0 ? ", " : "", shown(fields[i]));
  return fields.size() > kShownFields ? fmt::format("{}, ... ({} in all)", text, fields.size()) : text;
}

bool parse_number(std::string_view field, float& value) {
  if (!field.empty() && field.size() <= 3) {  // fast path for pixels and other small integers
    int n = 0;
    bool digits = true;
    for (const char c : field) {
      digits = digits && c >= '0' && c <= '9';
      n = 10 * n + (c - '0');
    }
    value = static_cast<float>(n);
    if (digits) return true;
  }
  if (field.starts_with('+') && !field.starts_with("+-")) field.remove_prefix(1);
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), value);
  if (end != field.data() + field.size() || error == std::errc::invalid_argument) return false;
  if (error == std::errc::result_out_of_range) value = clamped(field);
  return std::isfinite(value);
}

bool has_decimal_comma(std::string_view field) {
  const std::size_t comma = field.find(',');
  if (comma == std::string_view::npos || comma + 1 == field.size()) return false;
  const auto digits = [](std::string_view text) {
    return std::ranges::all_of(text, [](char c) { return c >= '0' && c <= '9'; });
  };
  std::string_view whole = field.substr(0, comma);
  if (whole.starts_with('-') || whole.starts_with('+')) whole.remove_prefix(1);
  return digits(whole) && digits(field.substr(comma + 1));
}

bool is_utf8(std::string_view text) {
  try {
    (void)nlohmann::json(text).dump();
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

void check_utf8(std::string_view text, std::string_view place) {
  if (!is_utf8(text))
    base::user_error("{}: '{}' is not UTF-8 text; convert the file: iconv -f latin1 -t utf8 FILE > NEW", place,
                     shown(text));
}

}  // namespace trireme::data
