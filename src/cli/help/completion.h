// Completion scripts for bash and zsh. They contain the verbs, their options and the values that the registries offer,
// so pressing tab starts no program.
#pragma once

#include <span>
#include <string>

#include "cli/cli.h"

namespace trireme::cli {

std::string bash_completion(const train::Registry& registry, std::span<const Verb> verbs);
std::string zsh_completion(const train::Registry& registry, std::span<const Verb> verbs);

}  // namespace trireme::cli
