// The options of an op as JSON ({"channels": 16, "kernel": [3, 3], "bias": false}) and as the text that its registry
// row reads ("channels=16,kernel=3x3,bias=no"). Thread-safe.
#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>

#include "ops/core/op.h"

namespace trireme::graph {

// The options that differ from their defaults, in the op's order; an empty object for none.
nlohmann::ordered_json options_json(const ops::Op& op);

// One option's value as text. `where` names the place for the user error about a value that no option can have.
std::string option_text(const nlohmann::ordered_json& value, const std::string& where);

}  // namespace trireme::graph
