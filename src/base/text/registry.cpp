#include "base/text/registry.h"

#include "base/text/nearest.h"

namespace trireme::base {

void no_such_row(std::string_view what, std::string_view name, const std::vector<std::string>& known) {
  user_error("{}", unknown_name(what, name, known));
}

}  // namespace trireme::base
