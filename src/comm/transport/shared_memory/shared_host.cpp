#include "comm/transport/shared_memory/shared_host.h"

#include <sys/eventfd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/transport/link/link.h"

namespace trireme::comm {
namespace {
constexpr std::int64_t kLookAtAlarmNs = 50'000'000;
}

SharedHost::SharedHost(int rank, std::vector<int> ranks, std::size_t segments, std::vector<Socket> sockets,
                       double seconds, std::shared_ptr<const FailureState> alarm)
    : rank_(rank),
      place_(static_cast<int>(std::find(ranks.begin(), ranks.end(), rank) - ranks.begin())),
      ranks_(std::move(ranks)),
      sockets_(std::move(sockets)),
      seconds_(seconds),
      alarm_(std::move(alarm)) {
  const std::size_t bytes = segments * SharedSegment::bytes_for(static_cast<int>(ranks_.size()));
  std::vector<Socket> all = hand_out(bytes, segments * ranks_.size());
  segment_memory_ = std::make_shared<MappedMemory>(bytes, all[0].descriptor());
  wakeups_.assign(std::make_move_iterator(all.begin() + 1), std::make_move_iterator(all.end()));
}

std::vector<Socket> SharedHost::hand_out(std::size_t bytes, std::size_t wakeups) {
  const std::int64_t deadline = base::in_seconds(seconds_);
  std::vector<Socket> all(1 + wakeups);
  try {
    if (!is_lowest()) {
      wait_for_lowest(deadline);
      receive_descriptors(sockets_.at(0), all, deadline);
      return all;
    }
    all[0] = Socket(make_shared_memory(bytes));
    for (std::size_t i = 1; i < all.size(); ++i) all[i] = Socket(eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC));
    std::vector<int> numbers;
    for (const Socket& one : all) {
      if (!one.is_open()) base::run_error("rank {}: cannot make an eventfd: {}", rank_, std::strerror(errno));
      numbers.push_back(one.descriptor());
    }
    for (const Socket& socket : sockets_) send_descriptors(socket, numbers, deadline);
  } catch (const GoneError& error) {
    base::run_error("rank {}, sharing {} bytes of memory: a rank of this host is gone: {}", rank_, bytes, error.what());
  }
  return all;
}

// Checks the failure state meanwhile: after a loss, the lowest rank may fail without knowing of this rank's connection.
void SharedHost::wait_for_lowest(std::int64_t deadline_ns) const {
  while (base::now_ns() < deadline_ns &&
         !wait_readable(sockets_.at(0), std::min(deadline_ns, base::now_ns() + kLookAtAlarmNs)))
    if (alarm_->is_raised()) base::run_error("rank {}, sharing memory: {}", rank_, alarm_->sentence());
}

SharedSegment SharedHost::segment(std::size_t number) const {
  const int ranks = static_cast<int>(ranks_.size());
  std::vector<int> wakeups;
  for (std::size_t i = 0; i < ranks_.size(); ++i) wakeups.push_back(wakeups_[number * ranks_.size() + i].descriptor());
  return {segment_memory_->data() + number * SharedSegment::bytes_for(ranks), ranks, wakeups};
}

std::shared_ptr<const SharedWindow> SharedHost::allocate(std::size_t bytes) {
  const std::size_t stride = whole_huge_pages(bytes), all = stride * ranks_.size();
  const auto memory = std::make_shared<MappedMemory>(all, hand_out(all, 0)[0].descriptor());
  return std::make_shared<SharedWindow>(windows_++, memory->data(), stride, bytes, ranks_, rank_, memory);
}

}  // namespace trireme::comm
