// Quotes text for JSON files that are written line by line. Pure functions.
#pragma once

#include <string>
#include <string_view>

namespace trireme::observe {

// The text as a JSON string, with its quotes; escapes control characters, quotes and backslashes.
std::string json_text(std::string_view text);

}  // namespace trireme::observe
