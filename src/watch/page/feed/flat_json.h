// FlatJson: the members of one JSON object, found without building a document: lines of steps come by the thousand.
// Pure functions; thread-safe.
#pragma once

#include <functional>
#include <string_view>

namespace trireme::watch {

// Calls `take` with the name and the text of each member of the object. False if the text is not one whole object.
// Strict only where it matters here: brackets and quotes must match.
bool for_each_member(std::string_view object,
                     const std::function<void(std::string_view name, std::string_view value)>& take);

// The number in a member's text; NaN if it is none (null).
double number_of(std::string_view value);
// The text of a string without escapes; empty if it is no string.
std::string_view plain_text_of(std::string_view value);

}  // namespace trireme::watch
