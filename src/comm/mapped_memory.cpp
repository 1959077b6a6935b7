#include "comm/mapped_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"

namespace trireme::comm {

MappedMemory::MappedMemory(std::size_t bytes, int descriptor) : bytes_(std::max<std::size_t>(bytes, 1)) {
  const int flags = descriptor < 0 ? MAP_PRIVATE | MAP_ANONYMOUS : MAP_SHARED;
  void* memory = mmap(nullptr, bytes_, PROT_READ | PROT_WRITE, flags, descriptor, 0);
  if (memory == MAP_FAILED) base::run_error("cannot map {} bytes of memory: {}", bytes_, std::strerror(errno));
  data_ = static_cast<std::byte*>(memory);
  madvise(data_, bytes_, MADV_HUGEPAGE);
}

MappedMemory::~MappedMemory() { munmap(data_, bytes_); }

int make_shared_memory(std::size_t bytes) {
  const int descriptor = memfd_create("trireme", MFD_CLOEXEC);
  if (descriptor < 0 || ftruncate(descriptor, static_cast<off_t>(std::max<std::size_t>(bytes, 1))) != 0)
    base::run_error("there is no shared memory of {} bytes: {}", bytes, std::strerror(errno));
  return descriptor;
}

std::size_t whole_huge_pages(std::size_t bytes) {
  constexpr std::size_t kHugePage = std::size_t{2} << 20;
  return (bytes + kHugePage - 1) / kHugePage * kHugePage;
}

}  // namespace trireme::comm
