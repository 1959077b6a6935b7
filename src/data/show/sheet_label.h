// The text below a sample on a contact sheet. Pure functions; thread-safe.
#pragma once

#include <span>
#include <string>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The class's name or number; the names of the labels that are 1; values with three digits.
std::string label_text(const DataSpec& spec, std::span<const float> target);

}  // namespace trireme::data
