// A network as a table for people: each node with its op, output, parameters, cost and kernel; and its graph for
// Graphviz.
// Thread-safe.
#pragma once

#include <string>

#include "graph/network.h"

namespace trireme::graph {

// Compiles the network for oars of `samples`, to say which kernel each node gets on this machine.
std::string network_table(const Network& network, std::int64_t samples);

// The graph in the DOT language.
std::string network_dot(const Network& network);

}  // namespace trireme::graph
