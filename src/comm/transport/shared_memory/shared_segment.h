// SharedSegment: the shared memory through which ranks of one host exchange bytes.
// Immutable after construction.
// It holds a wakeup per rank, a ring per ordered pair of ranks and a barrier. It is zero before the first rank uses it.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "comm/transport/link/link.h"
#include "comm/transport/shared_memory/host_barrier.h"
#include "comm/transport/shared_memory/ring.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

class SharedSegment {
 public:
  static constexpr std::size_t kRing = std::size_t{256} << 10;

  static std::size_t bytes_for(int ranks);

  // `memory` is aligned to 64 bytes. `wakeups` are the ranks' eventfds.
  SharedSegment(void* memory, int ranks, std::vector<int> wakeups);

  Wakeup wakeup(int rank) const;
  std::unique_ptr<Link> link(int rank, int peer) const;
  HostBarrier barrier(int rank) const;

 private:
  Ring ring(int from, int to) const;

  std::byte* memory_;
  int ranks_;
  std::vector<int> wakeups_;
};

}  // namespace trireme::comm
