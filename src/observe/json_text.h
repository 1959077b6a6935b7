// Text in files of JSON that are written line by line.
#pragma once

#include <string>
#include <string_view>

namespace trireme::observe {

// With its quotes; control characters, quotes and backslashes as JSON wants them.
std::string json_text(std::string_view text);

}  // namespace trireme::observe
