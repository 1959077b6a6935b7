// Datasets of text tables: .csv, .tsv, .txt, .trn, .dat, .data, plain or packed. A line is a sample: numbers separated
// by commas, semicolons, tabs or spaces, the target last (or in the column that the header line calls label, class or
// target). Comments begin with #. What is wrong is a user error that names file, line and column.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "data/dataset/dataset.h"
#include "data/readers/data_request.h"

namespace trireme::data {

bool is_table(const DataRequest& request);

// The test set is the file beside it with a test's name: sat.trn + sat.tst, x_train.csv + x_test.csv.
DataPair open_table(const DataRequest& request);

// A single table from the bytes of a file in memory, called `name`.
DataPair read_table(std::span<const std::uint8_t> bytes, const std::string& name, const DataRequest& request);

// The file with the test samples beside a file with training samples; empty where there is none.
std::filesystem::path test_table_beside(const CodecRegistry& codecs, const std::filesystem::path& path);

}  // namespace trireme::data
