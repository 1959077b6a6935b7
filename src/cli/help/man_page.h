// Writes man pages from the same tables as --help.
#pragma once

#include <span>
#include <string>

#include "cli/cli.h"

namespace trireme::cli {

// trireme.1: what the program is, and its verbs.
std::string program_man_page(std::span<const Verb> verbs);
// trireme-VERB.1: every option, by group, and the examples.
std::string verb_man_page(const Verb& verb);

}  // namespace trireme::cli
