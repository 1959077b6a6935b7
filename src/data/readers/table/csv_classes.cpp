#include "data/readers/table/csv_classes.h"

#include <fmt/format.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <utility>

#include "base/error.h"
#include "data/readers/table/csv_values.h"

namespace trireme::data {
namespace {

constexpr std::size_t kMaxClasses = 10'000;

}  // namespace

std::size_t CsvClasses::index(std::string_view field, const std::string& where, std::int64_t line, std::size_t column) {
  if (const auto known = spellings_.find(field); known != spellings_.end()) return known->second;
  if (is_missing(field) || field.size() > kMaxWordText)
    base::user_error("{}, line {}, column {}: {}", where, line, column + 1,
                     is_missing(field) ? "the class is missing; remove the line or fill it in"
                                       : "a class name is longer than 200 characters");
  ClassName name{std::string(field), false, 0, line};
  float value;
  if (parse_number(field, value)) {  // 3, 3.0 and 03 are the same class
    const std::string_view digits = field.starts_with('+') ? field.substr(1) : field;
    double number = 0;
    std::from_chars(digits.data(), digits.data() + digits.size(), number);
    if (number != std::trunc(number) || std::abs(number) > 1e15)
      base::user_error(
          "{}, line {}, column {}: the class '{}' is no whole number; for numbers to be predicted ask for "
          "--target values",
          where, line, column + 1, shown(field));
    name.is_number = true;
    name.number = static_cast<std::int64_t>(number);
    name.text = std::to_string(name.number);
  } else {
    check_utf8(field, fmt::format("{}, line {}, column {}", where, line, column + 1));
  }
  const auto same = std::ranges::find(names_, name.text, &ClassName::text);
  const auto index = static_cast<std::size_t>(same - names_.begin());
  if (index == kMaxClasses)
    base::user_error(
        "{}, line {}: more than {} classes in column {}; for numbers to be predicted ask for --target values", where,
        line, kMaxClasses, column + 1);
  if (same == names_.end()) names_.push_back(std::move(name));
  if (spellings_.size() < 2 * kMaxClasses) spellings_.emplace(field, index);
  return index;
}

void CsvClasses::check_one_kind(const std::string& where, std::size_t column) const {
  const auto word = std::ranges::find(names_, false, &ClassName::is_number),
             number = std::ranges::find(names_, true, &ClassName::is_number);
  if (word != names_.end() && number != names_.end())
    base::user_error("{}: the classes in column {} are words ('{}', line {}) and numbers ({}, line {}); use one kind",
                     where, column + 1, shown(word->text), word->line, number->text, number->line);
}

}  // namespace trireme::data
