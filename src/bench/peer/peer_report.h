// What the words of `trireme bench` say about PyTorch's ways: fields of --json and lines for people.
#pragma once

#include <string>
#include <vector>

#include "bench/peer/peer_ways.h"

namespace trireme::bench {

// Throws NotAvailable when a script's answer to "join", "prepare" or "open" (JSON) says so, or when this allocator is
// not the one that the process uses.
void expect_available(const std::string& answer, const peer::Allocator& allocator = {});

// The list "peer_ways" of --json, as text: every way that was tried, with its milliseconds or why it is not available.
std::string ways_json(const std::vector<TriedWay>& tried);

// A line for each way that is not available, with this much space before it.
void print_unavailable(const std::vector<TriedWay>& tried, int indent);

}  // namespace trireme::bench
