// Memory for vectors of numbers: on a 64-byte border; when large, on a 2 MB border with huge pages asked for.
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

// The content is unspecified. A run error where there is not as much.
AlignedMemory allocate_aligned(std::size_t bytes);

}  // namespace trireme::base
