// SpecOption: the description of one option of a "name:key=value,..." specification (base::Spec), for lists, help and
// the documentation. Registry rows hold one for each option that their factory reads.
#pragma once

#include <string>

namespace trireme::base {

struct SpecOption {
  std::string key;
  // The default, or "a|b": the first one is the default. In capitals ("N"): there is none, the option must be given.
  std::string values;
  std::string help;
};

}  // namespace trireme::base
