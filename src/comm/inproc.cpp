#include "comm/inproc.h"

#include <sys/eventfd.h>
#include <sys/mman.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "comm/board.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kRing = std::size_t{256} << 10;

// What all ranks of the process share.
struct Common {
  std::size_t bytes = 0;
  void* memory = MAP_FAILED;  // zero, and taken from the system only where it is touched
  std::vector<int> bells;

  explicit Common(int world) : bytes(Board::bytes_for(world, kRing)) {
    memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) base::run_error("out of memory: {} bytes for {} ranks", bytes, world);
    for (int rank = 0; rank < world; ++rank) {
      bells.push_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
      if (bells.back() < 0) base::run_error("cannot make a bell for rank {}: {}", rank, std::strerror(errno));
    }
  }
  ~Common() {
    for (const int bell : bells)
      if (bell >= 0) close(bell);
    if (memory != MAP_FAILED) munmap(memory, bytes);
  }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
};

}  // namespace

std::vector<Group> inproc_groups(int world, double deadline_seconds) {
  base::check(world >= 1, "a group of {} ranks", world);
  const auto common = std::make_shared<Common>(world);
  const Board board(common->memory, world, kRing, common->bells);
  const auto alarm = std::make_shared<Alarm>(world);
  std::vector<Group> groups;
  for (int rank = 0; rank < world; ++rank) {
    std::vector<std::unique_ptr<Link>> links(static_cast<std::size_t>(world));
    for (int peer = 0; peer < world; ++peer)
      if (peer != rank) links[static_cast<std::size_t>(peer)] = board.link(rank, peer);
    groups.emplace_back(
        std::make_unique<Port>(rank, std::move(links), board.bell(rank), alarm, deadline_seconds, common));
  }
  return groups;
}

}  // namespace trireme::comm
