// The role of each array in a file or folder, derived from its name: x_train, y_test, train_images, x2, labels, ...
// Pure functions; thread-safe.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace trireme::data {

enum class ArrayPart { train, test, all };

struct ArrayRole {
  ArrayPart part = ArrayPart::all;
  bool is_target = false;
  int number = 0;  // of several inputs: x1, x2, ... or x_train_1, ...; 0: not numbered
};

// No value for a name without a known meaning. Case is ignored.
std::optional<ArrayRole> array_role(std::string_view name);

// The known names, as a phrase for messages: "x_train and y_train, ...".
std::string known_array_names();

}  // namespace trireme::data
