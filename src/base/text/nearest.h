// "Did you mean ...": finds the name in a list that is nearest to a mistyped one. Pure functions; thread-safe.
#pragma once

#include <span>
#include <string>
#include <string_view>

namespace trireme::base {

// The nearest name by edit distance, or empty if none is near.
std::string nearest_name(std::string_view typed, std::span<const std::string> names);

// A sentence for an unknown name: what was typed, the nearest name, and the whole list.
std::string unknown_name(std::string_view what, std::string_view typed, std::span<const std::string> names);

}  // namespace trireme::base
