// The text below a sample on a contact sheet. Pure functions; thread-safe.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

#include "data/dataset/dataset.h"

namespace trireme::data {

// The class's name or number; the names of the labels that are 1; values with three digits.
std::string label_text(const DataSpec& spec, std::span<const float> target);

// Breaks the label into ASCII lines of at most `width` characters, after spaces and punctuation if possible. Text
// beyond `lines` lines is cut and ends in "..".
std::vector<std::string> label_lines(const std::string& label, std::size_t width, std::size_t lines);

}  // namespace trireme::data
