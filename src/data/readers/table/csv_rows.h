// Parses a text table into numbers and class names; csv.cpp makes datasets of them. Thread-safe.
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

// A class as the file spells it: an integer or a word.
struct ClassName {
  std::string text;  // a number in its shortest form
  bool is_number = false;
  std::int64_t number = 0;
  std::int64_t line = 0;  // of its first appearance
};

struct CsvRows {
  std::string where;
  std::int64_t samples = 0;
  std::int64_t inputs = 0;  // columns except the target
  std::size_t target_column = 0;
  ValueType type = ValueType::byte;
  std::vector<std::uint8_t> bytes;  // the inputs, while all are whole numbers 0 ... 255
  std::vector<float> reals;         // the inputs, if one is not
  std::vector<float> targets;       // values, or indices into `classes`
  std::vector<ClassName> classes;   // in order of appearance
};

// REQUIRES: target is classes or values; a table has one target per line. A table of as many columns as
// `inputs_alone`, none of which the header calls a target, has no target: `targets` stays empty.
CsvRows read_rows(UnpackedReader& reader, TargetKind target, std::int64_t inputs_alone = 0);

}  // namespace trireme::data
