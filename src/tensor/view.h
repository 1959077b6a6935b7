// View and ConstView: pointers to a tensor's memory with the type of its elements, as kernels receive them.
// Value types.
//
// A view owns nothing and has no size; the Layout passed with it has one. An absent tensor is a view of null. A view
// converts to a float pointer implicitly, so kernels index it like a plain pointer. Each conversion checks the type:
// convert once, outside of loops over elements.
#pragma once

#include "tensor/element_type.h"

namespace trireme::tensor {

[[noreturn]] void throw_wrong_type(ElementType found, ElementType wanted);

struct View {
  void* data = nullptr;
  ElementType type = ElementType::float32;

  View() = default;
  View(void* memory, ElementType type_of_elements) : data(memory), type(type_of_elements) {}
  View(float* floats) : data(floats) {}

  // A type other than float32 is an internal error.
  float* floats() const {
    if (type != ElementType::float32) [[unlikely]]
      throw_wrong_type(type, ElementType::float32);
    return static_cast<float*>(data);
  }
  operator float*() const { return floats(); }
  explicit operator bool() const { return data != nullptr; }
};

struct ConstView {
  const void* data = nullptr;
  ElementType type = ElementType::float32;

  ConstView() = default;
  ConstView(const void* memory, ElementType type_of_elements) : data(memory), type(type_of_elements) {}
  ConstView(const float* floats) : data(floats) {}
  ConstView(View view) : data(view.data), type(view.type) {}

  const float* floats() const {
    if (type != ElementType::float32) [[unlikely]]
      throw_wrong_type(type, ElementType::float32);
    return static_cast<const float*>(data);
  }
  operator const float*() const { return floats(); }
  explicit operator bool() const { return data != nullptr; }
};

}  // namespace trireme::tensor
