// ElementType: the type of a tensor's elements, with its size and name. A new type is one more row of kElementTypes.
// Pure functions.
// A value may come from a message, so size and name accept values that no row describes.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string_view>

namespace trireme::tensor {

enum class ElementType : std::uint8_t { float32 };

struct ElementTypeInfo {
  ElementType type;
  std::size_t bytes;  // per element
  std::string_view name;
};
inline constexpr std::array kElementTypes = {
    ElementTypeInfo{ElementType::float32, 4, "float32"},
};

// The row of a type in the table, or kElementTypes.size() if it has none. An index, not a pointer: under
// UndefinedBehaviorSanitizer GCC 12 does not accept the address of a row as a constant.
constexpr std::size_t element_type_row(ElementType type) {
  std::size_t row = 0;
  while (row < kElementTypes.size() && kElementTypes[row].type != type) ++row;
  return row;
}
constexpr std::size_t element_bytes(ElementType type) {
  const std::size_t row = element_type_row(type);
  return row < kElementTypes.size() ? kElementTypes[row].bytes : 0;
}
constexpr std::string_view element_name(ElementType type) {
  const std::size_t row = element_type_row(type);
  return row < kElementTypes.size() ? kElementTypes[row].name : "an unknown element type";
}

static_assert(element_bytes(ElementType::float32) == sizeof(float));

}  // namespace trireme::tensor
