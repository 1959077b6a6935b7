// Targets for traces: spans from other processes, and trace files of earlier ones.
#pragma once

#include "fuzz/targets.h"

namespace trireme::fuzz {

// A packed SpanChunk without its hash, which is added.
void read_spans(std::span<const std::uint8_t> bytes);
std::vector<Bytes> span_seeds();
// A trace.json to go on with, and to look at.
void read_trace(std::span<const std::uint8_t> bytes);
std::vector<Bytes> trace_seeds();

}  // namespace trireme::fuzz
