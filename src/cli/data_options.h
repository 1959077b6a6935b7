// Options of train that other verbs take too: how data is read. Thread-safe.
#pragma once

#include <array>
#include <span>
#include <string_view>
#include <vector>

#include "base/text/options.h"

namespace trireme::cli {

// How the columns of a table are read.
inline constexpr std::array<std::string_view, 4> kTableOptions{"target-column", "ignore-columns", "category-columns",
                                                               "missing"};
// How files of images are read.
inline constexpr std::array<std::string_view, 2> kImageOptions{"image-fit", "image-upright"};

// These options of train, in a group of this name.
std::vector<base::OptionSpec> options_of_train(const char* group, std::span<const std::string_view> names);

}  // namespace trireme::cli
