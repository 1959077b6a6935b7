// What the words of `trireme bench` say about PyTorch's ways: fields of --json and lines for people.
#pragma once

#include <nlohmann/json.hpp>

#include "cli/peer_ways.h"

namespace trireme::cli {

// Throws NotAvailable when a script's answer to "prepare" or "open" says so, or when the way's allocator is not the
// one that the process uses.
void expect_available(const nlohmann::json& answer, const PeerWay& way);

// "peer_ways": every way that was tried, with its milliseconds or why it is not available.
nlohmann::ordered_json ways_json(const std::vector<TriedWay>& tried);

// A line for each way that is not available, with this much space before it.
void print_unavailable(const std::vector<TriedWay>& tried, int indent);

}  // namespace trireme::cli
