// Finds the running program, and the files installed with it: modules to load, programs to start. Thread-safe.
#pragma once

#include <string>

namespace trireme::base {

// Path of the running program.
std::string this_program();

// Searches beside the program, one folder above (for test programs), and lib/trireme (when installed). Empty if not
// found.
std::string find_beside_program(const std::string& name);

}  // namespace trireme::base
