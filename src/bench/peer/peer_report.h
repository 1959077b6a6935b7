// Reports PyTorch's ways of running a step: fields for --json and lines for people.
#pragma once

#include <string>
#include <vector>

#include "bench/peer/peer_ways.h"

namespace trireme::bench {

// Throws NotAvailable if a script's answer (JSON) to "join", "prepare" or "open" says so, or if the process does not
// use this allocator.
void expect_available(const std::string& answer, const peer::Allocator& allocator = {});

// The list "peer_ways" of --json, as text: every tried way with its milliseconds, or why it is not available.
std::string ways_json(const std::vector<TriedWay>& tried);

// Prints a line, indented by `indent`, for each way that is not available.
void print_unavailable(const std::vector<TriedWay>& tried, int indent);

}  // namespace trireme::bench
