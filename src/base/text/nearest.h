// "Did you mean ...": the nearest of a list of names to one that was mistyped.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trireme::base {

// The nearest name by edit distance, or empty when none is near.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

// A sentence for an unknown name: what was typed, the nearest name, and the whole list.
std::string unknown_name(std::string_view what, std::string_view typed, std::span<const std::string> names);

}  // namespace trireme::base
