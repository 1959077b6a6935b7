#include "ops/core/op_registry.h"

#include <fmt/core.h>

#include <algorithm>

#include "base/error.h"
#include "base/text/nearest.h"

namespace trireme::ops {
namespace {

// Runs before the row reads its options; otherwise a misspelt option would be reported as missing.
void check_options(const OpRow& row, std::string_view text) {
  std::vector<std::string> known;
  for (const base::SpecOption& option : row.options) known.push_back(option.key);
  for (const auto& [key, value] : base::Spec("op", text).all()) {
    if (std::ranges::find(known, key) != known.end()) continue;
    if (known.empty()) base::user_error("op '{}' takes no options, but was given '{}'", row.name, key);
    base::user_error("{}", base::unknown_name(fmt::format("option of op '{}' called", row.name), key, known));
  }
}

}  // namespace

OpPtr make_op(const OpRegistry& registry, std::string_view text) {
  base::Spec spec("op", text);
  const OpRow& row = registry.get(spec.name());
  check_options(row, text);
  OpPtr op = row.make(spec);
  spec.finish();
  return op;
}

std::string op_text(const Op& op) {
  const std::string options = op.options_text();
  return std::string(op.kind()) + (options.empty() ? "" : ":" + options);
}

}  // namespace trireme::ops
