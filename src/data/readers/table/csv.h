// Datasets of text tables: .csv, .tsv, .txt, .trn, .dat, .data, plain or packed. Each record is a sample: numbers and
// words separated by commas, semicolons, tabs or spaces. What the columns are is found (find_schema.h), or given by the
// schema of a run. Errors are user errors that name file, line and column. Thread-safe.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "data/dataset/dataset.h"
#include "data/readers/data_request.h"

namespace trireme::data {

bool is_table(const DataRequest& request);

// The test set is the file beside it with a test file's name: sat.trn + sat.tst, x_train.csv + x_test.csv.
DataPair open_table(const DataRequest& request);

// A single table in memory; `name` is used in messages.
DataPair read_table(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request);

// The test file that belongs to a training file; empty if there is none.
std::filesystem::path test_table_beside(const CodecRegistry& codecs, const std::filesystem::path& path);

}  // namespace trireme::data
