// Columns: samples as tables in memory, one per input and one for the targets, in their stored type. All file readers
// make them; column_source() wraps them as a dataset. The memory may be a mapped file that processes share.
// Immutable once made; thread-safe.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"
#include "data/dataset/normalization.h"

namespace trireme::data {

inline constexpr std::int64_t kMostClasses = 1'000'000;  // limit for files; a network has weights for each class

// The values of all samples one after another, each sample row-major.
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
  Column target;                                // target_floats(spec) values per sample; a class index is one value
  std::shared_ptr<const void> memory;           // owns what the columns point to
  std::vector<Normalization> normalizations{};  // of all samples, if known
  std::vector<std::string> origins{};           // the file of each sample; empty: none of their own
};

// Memory that a reader filled, as a column's data.
template <class T>
const std::byte* column_data(const std::vector<T>& values) {
  return reinterpret_cast<const std::byte*>(values.data());
}

// User error that names `where` (the file) and the first bad sample, if a class index is not a whole number from 0 to
// classes - 1, or a label is neither 0 nor 1.
void check_targets(const DataSpec& spec, const Columns& columns, const std::string& where);

// The dataset over these columns. REQUIRES: the columns fit the spec (the reader has checked and named the file in its
// errors).
DatasetPtr column_source(DataSpec spec, Columns columns);

// The same for samples without targets: columns.target is ignored, and all targets are 0.
DatasetPtr source_without_targets(DataSpec spec, Columns columns);

// The common case: one input of byte images, with one class each.
DatasetPtr image_source(DataSpec spec, std::vector<std::uint8_t> pixels, std::vector<std::uint8_t> labels);

}  // namespace trireme::data
