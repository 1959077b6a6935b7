// Reads the environment variables in which launchers pass a process its launch info.
// Thread-safe, except forget().
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trireme::cluster {

// Returns the value of a variable; empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

std::string environment(const char* name);
// Unsets a variable, so that child processes do not inherit it. Not thread-safe, like unsetenv.
void forget(const char* name);
// All variables, each as "NAME=value".
std::vector<std::string> whole_environment();

}  // namespace trireme::cluster
