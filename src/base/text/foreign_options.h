// What other programs call their options, and what does the same here: for the hint after an unknown option. Pure
// functions; thread-safe.
#pragma once

#include <functional>
#include <string>
#include <string_view>

namespace trireme::base {

// What to write instead of the option `typed`; empty: not a name that we know. `has` tells which options there are.
std::string foreign_option_hint(std::string_view typed, const std::function<bool(const std::string&)>& has);

}  // namespace trireme::base
