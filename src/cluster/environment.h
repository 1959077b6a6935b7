// The environment variables by which launchers tell a process its place.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace trireme::cluster {

// Empty when it is not set.
using Environment = std::function<std::string(const char* name)>;

std::string environment(const char* name);
// What this process was told is not for those that it starts.
void forget(const char* name);
// All of it, each as "NAME=value".
std::vector<std::string> whole_environment();

}  // namespace trireme::cluster
