// Finds the running program, and the files installed with it: modules to load, programs to start. Thread-safe.
#pragma once

#include <string>
#include <vector>

namespace trireme::base {

// Path and name of the running program: "trireme", or the name of a user's own program.
std::string this_program();
std::string program_name();
// A sentence or help text that names commands (trireme train ...), with the name of this program.
std::string in_own_words(std::string text);

// The words of this process's command line, the first as it was typed.
std::vector<std::string> command_line();

// Searches beside the program, one folder above (for test programs), and lib/trireme (when installed). Empty if not
// found.
std::string find_beside_program(const std::string& name);

}  // namespace trireme::base
