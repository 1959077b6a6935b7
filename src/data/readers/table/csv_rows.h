// The rows of a text table as numbers and class names: what csv.cpp makes datasets of.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "data/codecs/decompress.h"
#include "data/dataset/dataset.h"

namespace trireme::data {

// A class as the file names it: a whole number or a word.
struct ClassName {
  std::string text;  // a number in its shortest form
  bool is_number = false;
  std::int64_t number = 0;
  std::int64_t line = 0;  // where it was first met
};

struct CsvRows {
  std::string where;
  std::int64_t samples = 0;
  std::int64_t inputs = 0;  // columns without the target
  std::size_t target_column = 0;
  ValueType type = ValueType::byte;
  std::vector<std::uint8_t> bytes;  // the inputs, while all are whole numbers 0 ... 255
  std::vector<float> reals;         // else
  std::vector<float> targets;       // values, or indices into `classes`
  std::vector<ClassName> classes;   // in the order they were met
};

// Classes or values; a table has one target per line.
CsvRows read_rows(UnpackedReader& reader, TargetKind target);

}  // namespace trireme::data
