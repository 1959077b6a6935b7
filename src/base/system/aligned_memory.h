// Aligned memory for vectors: on a 64-byte boundary; large blocks on a 2 MB boundary, with huge pages requested.
// Thread-safe.
#pragma once

#include <cstddef>
#include <memory>

namespace trireme::base {

inline constexpr std::size_t kMemoryAlignment = 64;

void free_aligned(std::byte* memory) noexcept;

struct FreeAligned {
  void operator()(std::byte* memory) const noexcept { free_aligned(memory); }
};
using AlignedMemory = std::unique_ptr<std::byte[], FreeAligned>;

// The content is unspecified. Lack of memory is a run error.
AlignedMemory allocate_aligned(std::size_t bytes);

}  // namespace trireme::base
