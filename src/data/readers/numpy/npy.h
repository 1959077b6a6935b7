// Reads NumPy arrays (.npy, versions 1 to 3): integers, floats and booleans, in either byte order and in C or Fortran
// order. Refuses pickled objects, text and records. Errors are user errors that name the array. Thread-safe.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

// Values in row-major order, as bytes (u1 and bool) or floats (all other types).
struct NumpyArray {
  std::string where;  // file and array, for messages
  tensor::Shape shape;
  ValueType type = ValueType::byte;
  std::vector<std::uint8_t> bytes;
  std::vector<float> reals;

  float value(std::size_t i) const { return type == ValueType::byte ? static_cast<float>(bytes[i]) : reals[i]; }
  const std::byte* data() const;
};

// Source of an array's bytes.
struct NumpyInput {
  std::string where;
  std::function<std::size_t(std::uint8_t* dst, std::size_t bytes)> read;  // fewer than requested only at the end
  // The total number of bytes, if known: a header that promises more is refused before memory is allocated.
  std::optional<std::uint64_t> bytes{};
};

NumpyArray read_npy(const NumpyInput& input);
NumpyArray read_npy(std::span<const std::uint8_t> bytes, const std::string& where);

// Permutes the dimensions: dimension i of the result is dimension order[i] of the array.
void reorder(NumpyArray& array, std::span<const int> order);

}  // namespace trireme::data
