#include "comm/transport/inproc.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <map>
#include <mutex>
#include <numeric>

#include "base/error.h"
#include "comm/transport/shared_memory/mapped_memory.h"
#include "comm/transport/shared_memory/shared_segment.h"

namespace trireme::comm {
namespace {

// Shared by all ranks of the group.
struct Common {
  MappedMemory memory;
  std::vector<int> wakeups;
  std::mutex mutex;
  std::map<std::uint32_t, std::shared_ptr<MappedMemory>> windows;  // made by the first rank that asks

  explicit Common(int world) : memory(kLinkSets * SharedSegment::bytes_for(world), -1) {
    for (int rank = 0; rank < kLinkSets * world; ++rank) {
      wakeups.push_back(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
      if (wakeups.back() < 0) base::run_error("cannot make an eventfd for rank {}: {}", rank, std::strerror(errno));
    }
  }
  ~Common() {
    for (const int wakeup : wakeups)
      if (wakeup >= 0) close(wakeup);
  }
  Common(const Common&) = delete;
  Common& operator=(const Common&) = delete;
};

class InprocMemory : public HostMemory {
 public:
  InprocMemory(int rank, int world, std::shared_ptr<Common> common)
      : rank_(rank), ranks_(static_cast<std::size_t>(world)), common_(std::move(common)) {
    std::iota(ranks_.begin(), ranks_.end(), 0);
  }

  std::shared_ptr<const SharedWindow> allocate(std::size_t bytes) override {
    const std::size_t stride = whole_huge_pages(bytes);
    const std::lock_guard lock(common_->mutex);
    auto& memory = common_->windows[windows_];
    if (!memory) memory = std::make_shared<MappedMemory>(stride * ranks_.size(), -1);
    return std::make_shared<SharedWindow>(windows_++, memory->data(), stride, bytes, ranks_, rank_, memory);
  }

 private:
  int rank_;
  std::vector<int> ranks_;
  std::shared_ptr<Common> common_;
  std::uint32_t windows_ = 0;
};

}  // namespace

std::vector<Group> inproc_groups(int world, double deadline_seconds, std::vector<int> hosts) {
  base::check(world >= 1, "a group of {} ranks", world);
  hosts.resize(static_cast<std::size_t>(world));
  const auto common = std::make_shared<Common>(world);
  const auto alarm = std::make_shared<FailureState>(world);
  const auto links_of = [&](int rank, int number) {
    const auto first = common->wakeups.begin() + number * world;
    const SharedSegment segment(
        common->memory.data() + static_cast<std::size_t>(number) * SharedSegment::bytes_for(world), world,
        {first, first + world});
    std::vector<std::unique_ptr<Link>> links(static_cast<std::size_t>(world));
    for (int peer = 0; peer < world; ++peer)
      if (peer != rank) links[static_cast<std::size_t>(peer)] = segment.link(rank, peer);
    return LinkSet{rank,  common, std::move(links), segment.wakeup(rank),
                   alarm, hosts,  deadline_seconds, segment.barrier(rank)};
  };
  std::vector<Group> groups;
  for (int rank = 0; rank < world; ++rank)
    groups.emplace_back(Mesh{links_of(rank, 0), links_of(rank, 1), links_of(rank, 2),
                             std::make_shared<InprocMemory>(rank, world, common)});
  return groups;
}

Transport inproc_transport() {
  return {.name = kAlone,
          .summary = "memory of one process",
          .offered = {.train = false, .bench_train = false, .bench_collective = false},
          .join = [](const JoinRequest& request) {
            base::check(request.world == 1, "{} processes cannot join through the memory of one", request.world);
            return std::move(inproc_groups(1, request.deadline_seconds)[0]);
          }};
}

}  // namespace trireme::comm
