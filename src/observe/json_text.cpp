#include "observe/json_text.h"

#include <fmt/core.h>

namespace trireme::observe {

std::string json_text(std::string_view text) {
  std::string json = "\"";
  for (const char letter : text) {
    if (letter == '"' || letter == '\\')
      json += {'\\', letter};
    else if (static_cast<unsigned char>(letter) < 0x20)
      json += fmt::format("\\u{:04x}", static_cast<unsigned>(letter));
    else
      json += letter;
  }
  return json += '"';
}

}  // namespace trireme::observe
