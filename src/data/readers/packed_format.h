// The layout of packed files, shared by their writer and reader: magic, header length, XXH3 of the header; then the
// header (JSON); then the columns, each starting on a page of its own.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "base/hash.h"

namespace trireme::data::packed {

inline constexpr std::array<char, 8> kMagic = {'T', 'R', 'I', 'R', 'E', 'M', 'E', '1'};
inline constexpr std::size_t kFrontBytes = kMagic.size() + 2 * sizeof(std::uint64_t);
inline constexpr std::uint64_t kPage = 4096;
inline constexpr std::array<const char*, 2> kSplits = {"train", "test"};

inline std::uint64_t whole_pages(std::uint64_t bytes) { return (bytes + kPage - 1) / kPage * kPage; }

// Checksum of a column, sample by sample: XXH3 of the sample, seeded with the checksum so far.
inline std::uint64_t add_to_checksum(std::uint64_t checksum, std::span<const std::byte> sample) {
  return base::xxh3(sample, checksum);
}

}  // namespace trireme::data::packed
