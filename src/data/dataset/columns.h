// Columns: samples as tables in memory, one per input and one for the targets, in the type they are stored in. What
// every reader of files makes; ColumnSource is the dataset over it. The memory may be a file's, mapped and shared
// between processes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/normalization.h"

namespace trireme::data {

inline constexpr std::int64_t kMostClasses = 1'000'000;  // that a file may say; a network has weights for each

// The samples' values one after another, each in the order of the shape.
struct Column {
  tensor::Shape shape;  // of one sample
  ValueType type = ValueType::byte;
  const std::byte* data = nullptr;

  std::size_t sample_bytes() const { return static_cast<std::size_t>(shape.count()) * value_bytes(type); }
  const std::byte* at(std::int64_t sample) const { return data + static_cast<std::size_t>(sample) * sample_bytes(); }
};

struct Columns {
  std::int64_t samples = 0;
  std::vector<Column> inputs;
  Column target;                                // of target_floats(spec) values; a class index is one value
  std::shared_ptr<const void> memory;           // keeps what the columns point to
  std::vector<Normalization> normalizations{};  // of all samples, where they are known
};

// Memory that a reader filled, to be a column's data.
template <class T>
const std::byte* column_data(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

// Where a class index is no whole number from 0 to classes - 1, or a label neither 0 nor 1: a user error that names
// `where` (the file) and the first such sample.
void check_targets(const DataSpec& spec, const Columns& columns, const std::string& where);

// The dataset over columns that fit the spec (an invariant; the reader has checked and named the file in its errors).
DatasetPtr column_source(DataSpec spec, Columns columns);

// The common case: one input of bytes, images, with a class each.
DatasetPtr image_source(DataSpec spec, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels);

}  // namespace trireme::data
