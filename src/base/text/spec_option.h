// SpecOption: describes one option of a "name:key=value,..." specification (base::Spec), for lists, help and
// documentation. A registry row holds one per option that its factory reads.
#pragma once

#include <string>

namespace trireme::base {

struct SpecOption {
  std::string key;
  // The default; or "a|b", of which the first is the default; or capitals ("N"): no default, the option is required.
  std::string values;
  std::string help;
};

}  // namespace trireme::base
