#include "base/system/aligned_memory.h"

#include <sys/mman.h>

#include <cstdlib>

#include "base/error.h"

namespace trireme::base {
namespace {
constexpr std::size_t kHugePage = std::size_t{2} << 20;
}

AlignedMemory allocate_aligned(std::size_t bytes) {
  const std::size_t alignment = bytes >= kHugePage ? kHugePage : kMemoryAlignment;
  const std::size_t whole = (bytes + alignment - 1) / alignment * alignment;
  AlignedMemory memory(static_cast<std::byte*>(std::aligned_alloc(alignment, whole)));
  if (!memory) run_error("out of memory: {} bytes were asked for; try a smaller --batch or fewer --threads", bytes);
  if (alignment == kHugePage) ::madvise(memory.get(), whole, MADV_HUGEPAGE);
  return memory;
}

void free_aligned(std::byte* memory) noexcept { std::free(memory); }

}  // namespace trireme::base
