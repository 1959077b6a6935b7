#include "base/system/memory_reserve.h"

#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

namespace trireme::base {
namespace {

// Blocks that malloc takes from its heap, so that what is released serves other sizes as well.
constexpr std::size_t kBlockBytes = 64 << 10;
std::array<std::atomic<void*>, 8> reserve{};  // of the process, as its new-handler is

// Called by `operator new` until it has the memory, or nothing is left to release.
void release_reserve() {
  bool any = false;
  for (std::atomic<void*>& block : reserve)
    if (void* taken = block.exchange(nullptr)) {
      std::free(taken);
      any = true;
    }
  if (!any) throw std::bad_alloc();
}

}  // namespace

void keep_memory_reserve() {
  // Where the address space is limited all threads share one heap: glibc reserves 64 MB for each thread's own, and a
  // thread that got none has no share in the reserve.
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
  for (std::atomic<void*>& block : reserve) block = std::malloc(kBlockBytes);
  std::set_new_handler(release_reserve);
}

}  // namespace trireme::base
