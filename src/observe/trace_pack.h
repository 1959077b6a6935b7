// PackedTrace: a trace as it is sent to another process. Each name is stored once; a hash detects damage.
// Pure functions.
//
//   pack   = magic names lanes spans left_out hash
//   names  = count (length bytes)...          lanes = count (lane name)...
//   spans  = count (name lane start end)...   a name is an index into names; times as they were recorded
// Counts, lengths, indices and lanes have 4 bytes; times, left_out and the hash (XXH3 of everything before it) have 8.
// Byte order is the machine's: both processes run the same build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme::observe {

struct PackedTrace {
  struct Span {
    std::uint32_t name = 0;  // index into names
    std::int32_t lane = 0;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<std::string> names;
  std::vector<std::pair<std::int32_t, std::uint32_t>> lanes;  // lane and index of its name
  std::vector<Span> spans;
  std::uint64_t left_out = 0;
};

std::string pack(const PackedTrace& trace);
// A damaged pack is a run error.
PackedTrace unpack(std::string_view packed);

}  // namespace trireme::observe
