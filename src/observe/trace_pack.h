// A trace on its way to another process: names once, spans as numbers, and a hash that tells whether it came whole.
//
//   pack   = magic names lanes spans left_out hash
//   names  = count (length bytes)...          lanes = count (lane name)...
//   spans  = count (name lane start end)...   a name is an index into names; times as they were recorded
// Counts, lengths, indices and lanes are 4 bytes, times, left_out and the hash (XXH3 of all before it) 8 bytes, as
// they lie in memory: packs go between processes of one build.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace trireme::observe {

struct PackedTrace {
  struct Span {
    std::uint32_t name = 0;  // of names
    std::int32_t lane = 0;
    std::int64_t start_ns = 0, end_ns = 0;
  };
  std::vector<std::string> names;
  std::vector<std::pair<std::int32_t, std::uint32_t>> lanes;  // and their names
  std::vector<Span> spans;
  std::uint64_t left_out = 0;
};

std::string pack(const PackedTrace& trace);
// A damaged one is a run error.
PackedTrace unpack(std::string_view packed);

}  // namespace trireme::observe
