// The header of a .npy file: the type of its values, their order and the shape. Thread-safe.
#pragma once

#include <cstddef>
#include <string>
#include <string_view>

#include "tensor/shape.h"

namespace trireme::data {

struct NpyHeader {
  char kind = 'u';  // u, i, f, b as NumPy names them
  std::size_t value_bytes = 1;
  bool big_endian = false;
  bool fortran_order = false;
  tensor::Shape shape;
};

// Reads the text {'descr': '<f4', 'fortran_order': False, 'shape': (60000, 28, 28), }. Types that are no numbers, empty
// shapes and anything that is not of this form are user errors that name `where`.
NpyHeader parse_npy_header(std::string_view text, const std::string& where);

}  // namespace trireme::data
