// Reads the rows of a text table as its schema says; csv.cpp makes datasets of them. Thread-safe.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/table_schema.h"
#include "data/readers/table/csv_classes.h"
#include "data/readers/table/csv_records.h"
#include "data/readers/table/table_layout.h"

namespace trireme::data {

struct CsvRows {
  std::string where;
  std::int64_t samples = 0;
  ValueType type = ValueType::byte;
  std::vector<std::uint8_t> bytes;  // the inputs, while all are whole numbers 0 ... 255
  std::vector<float> reals;         // the inputs, if one is not
  std::vector<float> targets;       // values, 0/1 labels, or indices into `classes`; empty if the file has none
  std::vector<ClassName> classes;   // in order of appearance
};

// REQUIRES: the layout fits the file. Fields that the schema does not allow are user errors.
CsvRows read_rows(const TableFile& file, const TableSchema& schema, const TableLayout& layout, TargetKind target);

// The same for a schema of numbers without fills: nothing if an input is missing or is no number.
std::optional<CsvRows> read_numbers(const TableFile& file, const TableSchema& schema, const TableLayout& layout,
                                    TargetKind target);

}  // namespace trireme::data
