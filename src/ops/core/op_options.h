// Reads and writes the options of ops as text: sizes ("3x3") in addition to the numbers and flags of base::Spec.
// Thread-safe; an OptionsText takes one caller at a time.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/text/text.h"

namespace trireme::ops {

// Options without a default; a missing one is a user error. Integers and sizes are at most 2^30.
std::int64_t required_integer(base::Spec& spec, const std::string& key);
double required_number(base::Spec& spec, const std::string& key);
std::vector<std::int64_t> required_sizes(base::Spec& spec, const std::string& key);
// One size for each of `count` dimensions; a single number stands for all. Empty when the option is missing.
std::vector<std::int64_t> optional_sizes(base::Spec& spec, const std::string& key, std::size_t count);

// Op::options_text(): "channels=8,kernel=3x3". An option that has its default is left out.
class OptionsText {
 public:
  void add(std::string_view key, std::string_view value);
  void integer(std::string_view key, std::int64_t value, std::int64_t otherwise);
  void number(std::string_view key, double value, double otherwise);
  void flag(std::string_view key, bool value, bool otherwise);
  // Equal sizes as one number.
  void sizes(std::string_view key, const std::vector<std::int64_t>& value, const std::vector<std::int64_t>& otherwise);
  const std::string& text() const { return text_; }

 private:
  std::string text_;
};

std::string sizes_text(const std::vector<std::int64_t>& sizes);  // "3x3"

}  // namespace trireme::ops
