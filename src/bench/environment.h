// Reads environment variables for the command line. (data/readers/find_data.cpp reads TRIREME_DATA.)
#pragma once

#include <string>

namespace trireme::bench {

// Empty when it is not set.
std::string environment(const char* name);

}  // namespace trireme::bench
