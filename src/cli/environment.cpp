#include "cli/environment.h"

#include <cstdlib>

namespace trireme::cli {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace trireme::cli
