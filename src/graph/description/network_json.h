// network.json: the description of a network that makes its bits: inputs, nodes in order of definition with op, options
// and inputs by name, penalties, initialiser, the limit of oars, loss. docs/network_files.md has the format.
// Thread-safe.
#pragma once

#include <string>

#include "graph/network.h"
#include "ops/core/op_registry.h"

namespace trireme::graph {

// The version of the format that network_json() writes; readers refuse newer ones.
inline constexpr int kNetworkFormat = 1;

// REQUIRES: a finished network that was not fused.
std::string network_json(const Network& network);

// The network that a description describes: network_json() of it is the same text. A mistake is a user error with the
// file's name and the JSON pointer of the place.
Network network_from_json(const ops::OpRegistry& ops, const std::string& text, const std::string& file);

}  // namespace trireme::graph
