// What a field of a text table says: a number, a word, or that the value is missing. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

inline constexpr std::size_t kMaxWordText = 200;

// False if the whole field is not one finite number.
bool parse_number(std::string_view field, float& value);

// Empty, ?, NA, N/A, nan, null or none, in upper or lower case.
bool is_missing(std::string_view field);
// The same, and a dash, in a column of numbers.
inline bool is_missing_number(std::string_view field) { return field == "-" || is_missing(field); }

// 1,5 instead of 1.5.
bool has_decimal_comma(std::string_view field);

// A field for a message: shortened, and without control characters that a terminal would interpret.
std::string shown(std::string_view field);
// "'a', 'b', ... (12 in all)"
std::string shown_list(const std::vector<std::string>& fields);

std::string lower(std::string_view text);

bool is_utf8(std::string_view text);
// User error if a name or word is not UTF-8; `place` is where it is.
void check_utf8(std::string_view text, std::string_view place);

}  // namespace trireme::data
