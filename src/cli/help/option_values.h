// The values of an option, for completion: words known to the registries, and files.
#pragma once

#include <string>
#include <vector>

#include "cli/cli.h"

namespace trireme::cli {

struct OptionValues {
  enum class Path { none, file, folder };
  std::vector<std::string> words;
  Path path = Path::none;
  bool list = false;  // several words, separated by commas
};

OptionValues option_values(const train::Registry& registry, const Verb& verb, const base::OptionSpec& option);

}  // namespace trireme::cli
