// ElementType: the type of a tensor's elements, with its size and name. A new type is one more row of kElementTypes.
//
// Values may come from a message, so size and name accept values that no row describes.
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

// The row of a type, null for a value that is none.
constexpr const ElementTypeInfo* find_element_type(ElementType type) {
  for (const ElementTypeInfo& row : kElementTypes)
    if (row.type == type) return &row;
  return nullptr;
}
constexpr std::size_t element_bytes(ElementType type) {
  const ElementTypeInfo* row = find_element_type(type);
  return row ? row->bytes : 0;
}
constexpr std::string_view element_name(ElementType type) {
  const ElementTypeInfo* row = find_element_type(type);
  return row ? row->name : "an unknown element type";
}

static_assert(element_bytes(ElementType::float32) == sizeof(float));

}  // namespace trireme::tensor
