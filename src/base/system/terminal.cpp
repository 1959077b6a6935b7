#include "base/system/terminal.h"

#include <unistd.h>

#include <cstdlib>
#include <string_view>

namespace trireme::base {

bool can_redraw(std::FILE* stream) {
  const char* terminal = std::getenv("TERM");
  return ::isatty(::fileno(stream)) == 1 && terminal != nullptr && std::string_view(terminal) != "dumb";
}

bool may_colour(std::FILE* stream) {
  const char* no_colour = std::getenv("NO_COLOR");
  return can_redraw(stream) && (no_colour == nullptr || no_colour[0] == '\0');
}

}  // namespace trireme::base
