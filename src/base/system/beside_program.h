// The program that runs, and files that come with it: modules it loads, programs it starts.
#pragma once

#include <string>

namespace trireme::base {

// Its path, and what a user calls it: "trireme", or the name of a user's own program.
std::string this_program();
std::string program_name();

// Beside the program or, for the programs of its tests, one folder above; installed, in lib/trireme. Empty when there
// is none.
std::string find_beside_program(const std::string& name);

}  // namespace trireme::base
