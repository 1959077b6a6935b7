// Memory for vectors lies on its borders and can be written to its last byte.
#include "base/system/aligned_memory.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>

namespace trireme::base {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;

TEST(AlignedMemory, LiesOnItsBorder) {
  for (const std::size_t bytes :
       {std::size_t{1}, std::size_t{63}, std::size_t{64}, std::size_t{1000}, kHugePage - 1, kHugePage, kHugePage + 1}) {
    const AlignedMemory memory = allocate_aligned(bytes);
    const auto address = reinterpret_cast<std::uintptr_t>(memory.get());
    EXPECT_EQ(address % (bytes < kHugePage ? kMemoryAlignment : kHugePage), 0u) << bytes;
    std::memset(memory.get(), 1, bytes);
    EXPECT_EQ(memory[bytes - 1], std::byte{1}) << bytes;
  }
}

}  // namespace
}  // namespace trireme::base
