// The format of packed files, shared by their writer and their reader: magic, length of the header, its XXH3; then the
// header (JSON); then the columns, each on a page of its own.
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

// Of a column, sample by sample: the hash of each begins with that of all before.
inline std::uint64_t add_to_checksum(std::uint64_t checksum, std::span<const std::byte> sample) {
  return base::xxh3(sample, checksum);
}

}  // namespace trireme::data::packed
