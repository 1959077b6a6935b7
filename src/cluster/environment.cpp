#include "cluster/environment.h"

#include <unistd.h>

#include <cstdlib>

namespace trireme::cluster {

std::string environment(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

void forget(const char* name) { ::unsetenv(name); }

std::vector<std::string> whole_environment() {
  std::vector<std::string> all;
  for (char** variable = environ; *variable != nullptr; ++variable) all.emplace_back(*variable);
  return all;
}

}  // namespace trireme::cluster
