// The environment variables of the command line; the one of the data is read in data/readers/find_data.cpp.
#pragma once

#include <string>

namespace trireme::bench {

// Empty when it is not set.
std::string environment(const char* name);

}  // namespace trireme::bench
