// What the arrays of a file or folder are for, seen from their names: x_train, y_test, train_images, x2, labels, ...
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::data {

enum class ArrayPart { train, test, all };

struct ArrayRole {
  ArrayPart part = ArrayPart::all;
  bool is_target = false;
  int number = 0;  // of several inputs: x1, x2, ... or x_train_1, ...; 0 without one
};

// None for a name of no known meaning. Capital letters count as small ones.
std::optional<ArrayRole> array_role(std::string_view name);

// The names in a sentence: "x_train and y_train, ...".
std::string known_array_names();

}  // namespace trireme::data
