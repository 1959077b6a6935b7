#include "base/system/memory_reserve.h"

#include <malloc.h>
#include <sys/resource.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <new>

namespace trireme::base {
namespace {

// Small enough that malloc takes the blocks from its heap; so released memory also serves other sizes.
constexpr std::size_t kBlockBytes = 64 << 10;
std::array<std::atomic<void*>, 8> reserve{};  // one per process, like the new-handler

// The new-handler: `operator new` calls it until the allocation succeeds, or nothing is left to release.
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
  // With a limited address space, all threads share one heap: glibc would reserve 64 MB for each thread's own heap, and
  // a thread that failed to get one could not use the reserve.
  rlimit limit{};
  if (::getrlimit(RLIMIT_AS, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) ::mallopt(M_ARENA_MAX, 1);
  for (std::atomic<void*>& block : reserve)
    if (block == nullptr) block = std::malloc(kBlockBytes);
  std::set_new_handler(release_reserve);
}

}  // namespace trireme::base
