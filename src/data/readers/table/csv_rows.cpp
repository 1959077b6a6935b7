#include "data/readers/table/csv_rows.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/readers/table/csv_lines.h"

namespace trireme::data {
namespace {

using Fields = std::vector<std::string_view>;

constexpr std::int64_t kMaxValues = std::int64_t{1} << 31;
constexpr std::size_t kMaxClasses = 10'000, kMaxClassText = 200, kShownText = 30;
constexpr std::array<std::string_view, 7> kMissing = {"", "?", "na", "n/a", "nan", "null", "none"};
constexpr std::array<std::string_view, 3> kTargetNames = {"label", "class", "target"};

std::string lower(std::string_view text) {
  std::string small(text);
  for (char& c : small) c = static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  return small;
}

bool is_missing(std::string_view field) {
  return field.size() <= 4 && std::find(kMissing.begin(), kMissing.end(), lower(field)) != kMissing.end();
}

// A field for a message: shortened, and without control characters that a terminal would interpret.
std::string shown(std::string_view field) {
  std::string text(field.substr(0, kShownText));
  for (char& c : text)
    if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) c = '?';
  return text + (field.size() > kShownText ? "..." : "");
}

// Values beyond float's range become infinite (huge) or 0 (tiny).
float clamped(std::string_view field) {
  double wide = 0;
  const auto [end, error] = std::from_chars(field.data(), field.data() + field.size(), wide);
  if (error == std::errc()) return static_cast<float>(wide);
  return field.find("e-") == std::string_view::npos && field.find("E-") == std::string_view::npos ? HUGE_VALF : 0.0f;
}

// False if the whole field is not one finite number.
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

class RowReader {
 public:
  RowReader(UnpackedReader& reader, TargetKind target, std::int64_t inputs_alone)
      : lines_(reader), by_number_(target == TargetKind::values), inputs_alone_(inputs_alone) {
    rows_.where = reader.path().string();
  }

  CsvRows read() {
    std::string_view line;
    Fields fields;
    if (!lines_.next(line)) base::user_error("{} is empty; expected a table of numbers", rows_.where);
    separator_ = find_separator(line);
    split_fields(line, separator_, fields);
    const bool has_target = static_cast<std::int64_t>(fields.size()) != inputs_alone_;
    if (fields.size() < 2 && has_target)
      base::user_error(
          "{}, line {}: one column; expected inputs and a target, separated by commas, semicolons, tabs "
          "or spaces",
          rows_.where, lines_.number());
    width_ = fields.size();
    rows_.inputs = static_cast<std::int64_t>(width_) - (has_target ? 1 : 0);
    rows_.target_column = static_cast<std::size_t>(rows_.inputs);  // behind the last column if there is none
    if (is_header(fields))
      choose_target(fields);
    else
      add(fields);
    while (lines_.next(line)) {
      split_fields(line, separator_, fields);
      add(fields);
    }
    if (rows_.samples == 0) base::user_error("{} has a header line but no samples", rows_.where);
    check_class_names();
    return std::move(rows_);
  }

 private:
  // True if every column holds a word. The target column is not checked: it may hold words in every line.
  bool is_header(const Fields& fields) const {
    float ignored;
    const auto end = fields.begin() + static_cast<std::ptrdiff_t>(rows_.inputs);
    return std::none_of(fields.begin(), end,
                        [&](std::string_view field) {
                          return parse_number(field, ignored) || (is_missing(field) && !field.empty());
                        }) &&
           !std::all_of(fields.begin(), end, [](std::string_view field) { return field.empty(); });
  }

  void choose_target(const Fields& header) {
    if (header[0].empty())
      base::user_error("{}, line {}: column 1 has no name, like an index that pandas wrote; save with index=False",
                       rows_.where, lines_.number());
    for (std::size_t column = header.size(); column-- > 0;)
      if (std::find(kTargetNames.begin(), kTargetNames.end(), lower(header[column])) != kTargetNames.end()) {
        rows_.target_column = column;
        rows_.inputs = static_cast<std::int64_t>(width_) - 1;
        return;
      }
  }

  void add(const Fields& fields) {
    if (fields.size() != width_)
      base::user_error("{}, line {}: {} columns, the lines before have {}", rows_.where, lines_.number(), fields.size(),
                       width_);
    if ((rows_.samples + 1) * static_cast<std::int64_t>(width_) > kMaxValues)
      base::user_error("{}, line {}: more than {} values; save so large a table as .npz", rows_.where, lines_.number(),
                       kMaxValues);
    for (std::size_t column = 0; column < width_; ++column) {
      if (column == rows_.target_column) continue;
      const float value = number(fields, column);
      if (rows_.type == ValueType::byte && !store_byte(value)) leave_bytes();
      if (rows_.type == ValueType::real) rows_.reals.push_back(value);
    }
    const std::size_t column = rows_.target_column;
    if (column < width_)
      rows_.targets.push_back(by_number_ ? number(fields, column) : static_cast<float>(class_index(fields[column])));
    ++rows_.samples;
  }

  float number(const Fields& fields, std::size_t column) const {
    float value;
    if (parse_number(fields[column], value)) return value;
    if (is_missing(fields[column]))
      base::user_error("{}, line {}, column {}: the value is missing; remove the line or fill it in", rows_.where,
                       lines_.number(), column + 1);
    base::user_error("{}, line {}, column {}: '{}' is no number", rows_.where, lines_.number(), column + 1,
                     shown(fields[column]));
  }

  bool store_byte(float value) {
    if (!(value >= 0 && value <= 255) || value != std::trunc(value) || std::signbit(value)) return false;
    rows_.bytes.push_back(static_cast<std::uint8_t>(value));
    return true;
  }

  // Called for the first value that is not a byte: converts all values so far to floats.
  void leave_bytes() {
    rows_.type = ValueType::real;
    rows_.reals.assign(rows_.bytes.begin(), rows_.bytes.end());
    rows_.bytes = {};
  }

  std::size_t class_index(std::string_view field) {
    if (const auto known = spellings_.find(field); known != spellings_.end()) return known->second;
    if (is_missing(field) || field.size() > kMaxClassText)
      base::user_error("{}, line {}, column {}: {}", rows_.where, lines_.number(), rows_.target_column + 1,
                       is_missing(field) ? "the class is missing; remove the line or fill it in"
                                         : "a class name is longer than 200 characters");
    ClassName name{std::string(field), false, 0, lines_.number()};
    float value;
    if (parse_number(field, value)) set_number(field, name);
    const auto same = std::find_if(rows_.classes.begin(), rows_.classes.end(),
                                   [&](const ClassName& other) { return other.text == name.text; });
    const auto index = static_cast<std::size_t>(same - rows_.classes.begin());
    if (index == kMaxClasses)
      base::user_error(
          "{}, line {}: more than {} classes in column {}; for numbers to be predicted ask for --target "
          "values",
          rows_.where, lines_.number(), kMaxClasses, rows_.target_column + 1);
    if (same == rows_.classes.end()) rows_.classes.push_back(std::move(name));
    if (spellings_.size() < 2 * kMaxClasses) spellings_.emplace(field, index);
    return index;
  }

  // 3, 3.0 and 03 are the same class.
  void set_number(std::string_view field, ClassName& name) const {
    double value = 0;
    if (field.starts_with('+')) field.remove_prefix(1);
    std::from_chars(field.data(), field.data() + field.size(), value);
    if (value != std::trunc(value) || std::abs(value) > 1e15)
      base::user_error(
          "{}, line {}, column {}: the class '{}' is no whole number; for numbers to be predicted ask for "
          "--target values",
          rows_.where, lines_.number(), rows_.target_column + 1, shown(field));
    name.is_number = true;
    name.number = static_cast<std::int64_t>(value);
    name.text = std::to_string(name.number);
  }

  void check_class_names() const {
    const auto of_kind = [&](bool number) {
      return std::find_if(rows_.classes.begin(), rows_.classes.end(),
                          [&](const ClassName& name) { return name.is_number == number; });
    };
    const auto word = of_kind(false), number = of_kind(true);
    if (word != rows_.classes.end() && number != rows_.classes.end())
      base::user_error("{}: the classes in column {} are words ('{}', line {}) and numbers ({}, line {}); use one kind",
                       rows_.where, rows_.target_column + 1, shown(word->text), word->line, number->text, number->line);
  }

  CsvLines lines_;
  bool by_number_;
  std::int64_t inputs_alone_;
  char separator_ = ',';
  std::size_t width_ = 0;
  CsvRows rows_;
  std::map<std::string, std::size_t, std::less<>> spellings_;  // spelling of a class -> its index
};

}  // namespace

CsvRows read_rows(UnpackedReader& reader, TargetKind target, std::int64_t inputs_alone) {
  return RowReader(reader, target, inputs_alone).read();
}

}  // namespace trireme::data
