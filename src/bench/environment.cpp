#include "bench/environment.h"

#include <cstdlib>

namespace trireme::bench {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

}  // namespace trireme::bench
