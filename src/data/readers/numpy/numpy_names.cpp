#include "data/readers/numpy/numpy_names.h"

#include <algorithm>
#include <array>
#include <cctype>
#include <span>

#include "base/text/text.h"

namespace trireme::data {
namespace {

constexpr std::array<std::string_view, 6> kInputWords = {"x", "input", "inputs", "images", "data", "features"};
constexpr std::array<std::string_view, 5> kTargetWords = {"y", "target", "targets", "label", "labels"};
constexpr std::size_t kMaxDigits = 4;

bool is_one_of(std::string_view word, std::span<const std::string_view> words) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

// Removes the number at the word's end and returns it: 0 if there is none, no value if it is too long.
std::optional<int> take_number(std::string& word) {
  std::size_t begin = word.size();
  while (begin > 0 && std::isdigit(static_cast<unsigned char>(word[begin - 1]))) --begin;
  if (word.size() - begin > kMaxDigits) return std::nullopt;
  const int number = begin == word.size() ? 0 : std::stoi(word.substr(begin));
  word.resize(begin);
  return number;
}

}  // namespace

std::optional<ArrayRole> array_role(std::string_view name) {
  std::string small(name);
  for (char& c : small) c = c == '-' ? '_' : static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
  ArrayRole role;
  std::string meaning;  // the remaining words
  for (const std::string& word : base::split(small, '_')) {
    if (word == "train" || word == "test") {
      if (role.part != ArrayPart::all) return std::nullopt;
      role.part = word == "train" ? ArrayPart::train : ArrayPart::test;
    } else {
      meaning += word;
    }
  }
  const std::optional<int> number = take_number(meaning);
  if (!number) return std::nullopt;
  role.number = *number;
  role.is_target = is_one_of(meaning, kTargetWords);
  if (!role.is_target && !is_one_of(meaning, kInputWords)) return std::nullopt;
  return role;
}

std::string known_array_names() {
  return "x_train, y_train, x_test and y_test (or x and y, inputs and targets, images and labels, data and labels; "
         "several inputs: x1_train, x2_train, ...)";
}

}  // namespace trireme::data
