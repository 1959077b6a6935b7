// CsvClasses: the classes in a column of a text table, whole numbers or words, in order of appearance.
// One thread at a time.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace trireme::data {

// A class as the file spells it: an integer or a word.
struct ClassName {
  std::string text;  // a number in its shortest form
  bool is_number = false;
  std::int64_t number = 0;
  std::int64_t line = 0;  // of its first appearance
};

class CsvClasses {
 public:
  // The index of the class in this field; `where` and `column` (from 0) are for messages. A missing class is a user
  // error, as are too many, and numbers that are not whole.
  std::size_t index(std::string_view field, const std::string& where, std::int64_t line, std::size_t column);
  // User error if some classes are words and others numbers.
  void check_one_kind(const std::string& where, std::size_t column) const;

  std::vector<ClassName>& names() { return names_; }

 private:
  std::vector<ClassName> names_;
  std::map<std::string, std::size_t, std::less<>> spellings_;  // spelling of a class -> its index
};

}  // namespace trireme::data
