#include "ops/core/op_options.h"

#include <fmt/core.h>

#include <algorithm>
#include <charconv>

#include "base/error.h"

namespace trireme::ops {
namespace {

constexpr std::int64_t kMost = std::int64_t{1} << 30;

// The option's value; a missing option is a user error.
std::string required(base::Spec& spec, const std::string& key) {
  std::string value = spec.word(key, "");
  if (value.empty()) base::user_error("op '{}' needs the option '{}' (trireme list ops)", spec.name(), key);
  return value;
}

std::vector<std::int64_t> parse_sizes(const base::Spec& spec, const std::string& key, const std::string& text) {
  std::vector<std::int64_t> sizes;
  for (const std::string& part : base::split(text, 'x')) {
    std::int64_t size = 0;
    const auto [end, cause] = std::from_chars(part.data(), part.data() + part.size(), size);
    if (part.empty() || cause != std::errc() || end != part.data() + part.size() || size > kMost || size < -kMost)
      base::user_error("op option {}:{} is '{}', expected sizes such as 3 or 3x3", spec.name(), key, text);
    sizes.push_back(size);
  }
  return sizes;
}

}  // namespace

std::int64_t required_integer(base::Spec& spec, const std::string& key) {
  required(spec, key);
  const std::int64_t value = spec.integer(key, 0);
  if (value > kMost) base::user_error("op option {}:{} is {}, expected at most {}", spec.name(), key, value, kMost);
  return value;
}

double required_number(base::Spec& spec, const std::string& key) {
  required(spec, key);
  return spec.number(key, 0);
}

std::vector<std::int64_t> required_sizes(base::Spec& spec, const std::string& key) {
  return parse_sizes(spec, key, required(spec, key));
}

std::vector<std::int64_t> optional_sizes(base::Spec& spec, const std::string& key, std::size_t count) {
  std::vector<std::int64_t> sizes = parse_sizes(spec, key, spec.word(key, ""));
  if (sizes.size() == 1 && count > 1) sizes.assign(count, sizes[0]);
  return sizes;
}

void OptionsText::add(std::string_view key, std::string_view value) {
  text_ += fmt::format("{}{}={}", text_.empty() ? "" : ",", key, value);
}
void OptionsText::integer(std::string_view key, std::int64_t value, std::int64_t otherwise) {
  if (value != otherwise) add(key, fmt::format("{}", value));
}
void OptionsText::number(std::string_view key, double value, double otherwise) {
  if (value != otherwise) add(key, fmt::format("{}", value));  // the shortest text that reads as the same double
}
void OptionsText::flag(std::string_view key, bool value, bool otherwise) {
  if (value != otherwise) add(key, value ? "yes" : "no");
}
void OptionsText::sizes(std::string_view key, const std::vector<std::int64_t>& value,
                        const std::vector<std::int64_t>& otherwise) {
  if (value == otherwise) return;
  const bool equal = std::ranges::all_of(value, [&](std::int64_t size) { return size == value[0]; });
  add(key, equal ? fmt::format("{}", value[0]) : sizes_text(value));
}

std::string sizes_text(const std::vector<std::int64_t>& sizes) {
  std::vector<std::string> parts;
  for (const std::int64_t size : sizes) parts.push_back(std::to_string(size));
  return base::join(parts, "x");
}

}  // namespace trireme::ops
