#include "comm/transport/shared_memory/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr int kCollapse = 25;  // MADV_COLLAPSE, since Linux 6.1

// Reserves an address range that begins on a huge page: reserves a larger one and unmaps both ends.
std::byte* find_room(std::size_t bytes) {
  const std::size_t more = bytes + kHugePage;
  void* room = mmap(nullptr, more, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (room == MAP_FAILED) return nullptr;
  auto* begin = static_cast<std::byte*>(room);
  auto* border = begin + whole_huge_pages(reinterpret_cast<std::size_t>(begin)) - reinterpret_cast<std::size_t>(begin);
  if (border != begin) munmap(begin, static_cast<std::size_t>(border - begin));
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  std::byte* end = border + (bytes + page - 1) / page * page;
  munmap(end, static_cast<std::size_t>(begin + more - end));
  return border;
}

}  // namespace

MappedMemory::MappedMemory(std::size_t bytes, int descriptor) : bytes_(std::max<std::size_t>(bytes, 1)) {
  const int flags = (descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED) | MAP_FIXED;
  std::byte* room = find_room(bytes_);
  void* memory = room ? mmap(room, bytes_, PROT_READ | PROT_WRITE, flags, descriptor, 0) : MAP_FAILED;
  if (memory == MAP_FAILED) base::run_error("cannot map {} bytes of memory: {}", bytes_, std::strerror(errno));
  data_ = static_cast<std::byte*>(memory);
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

MappedMemory::~MappedMemory() { munmap(data_, bytes_); }

int make_shared_memory(std::size_t bytes) {
  const int descriptor = memfd_create("trireme", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(std::max<std::size_t>(bytes, 1))) != 0)
    base::run_error("cannot allocate {} bytes of shared memory: {}", bytes, std::strerror(errno));
  return descriptor;
}

std::size_t whole_huge_pages(std::size_t bytes) { return (bytes + kHugePage - 1) / kHugePage * kHugePage; }

void take_huge_pages(std::span<std::byte> memory) {
  const std::size_t page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  for (std::size_t at = 0; at < memory.size(); at += page) {
    volatile std::byte& one = memory[at];
    one = one;
  }
  const auto begin = reinterpret_cast<std::size_t>(memory.data());
  // One call per huge page, because a failure would end a larger call early.
  for (std::size_t at = whole_huge_pages(begin) - begin; at + kHugePage <= memory.size(); at += kHugePage)
    madvise(memory.data() + at, kHugePage, kCollapse);
}

}  // namespace trireme::comm
