#include "cli/data_options.h"

#include <algorithm>

#include "train/experiment/options.h"

namespace trireme::cli {

std::vector<base::OptionSpec> options_of_train(const char* group, std::span<const std::string_view> names) {
  std::vector<base::OptionSpec> all;
  for (base::OptionSpec option : train::train_options()) {
    if (std::ranges::find(names, std::string_view(option.name)) == names.end()) continue;
    option.group = group;
    all.push_back(option);
  }
  return all;
}

}  // namespace trireme::cli
