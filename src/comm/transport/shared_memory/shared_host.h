// SharedHost: the memory that processes of one host share: their segments, and their windows. The lowest rank makes
// each piece and hands it to the others over local connections that stay open for it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "comm/transport/link/failure_state.h"
#include "comm/transport/shared_memory/mapped_memory.h"
#include "comm/transport/shared_memory/shared_segment.h"
#include "comm/transport/shared_memory/shared_window.h"
#include "comm/transport/tcp/socket.h"

namespace trireme::comm {

class SharedHost : public HostMemory {
 public:
  // Ranks of this host in order; `sockets` lead to the others (of the lowest rank) or to the lowest rank (of the
  // others). `seconds` is how long one may let the others wait; they also stop when the alarm is raised.
  SharedHost(int rank, std::vector<int> ranks, std::size_t segments, std::vector<Socket> sockets, double seconds,
             std::shared_ptr<const FailureState> alarm);

  SharedSegment segment(std::size_t number) const;
  int place() const { return place_; }  // of this rank among those of the host
  std::shared_ptr<const SharedWindow> allocate(std::size_t bytes) override;

 private:
  // Descriptors of new memory, and of `wakeups` new eventfds: made by the lowest rank, then everybody's.
  std::vector<Socket> hand_out(std::size_t bytes, std::size_t wakeups);
  bool is_lowest() const { return place_ == 0; }
  // Returns when the lowest rank has sent something, or is gone.
  void wait_for_lowest(std::int64_t deadline_ns) const;

  int rank_, place_ = 0;
  std::vector<int> ranks_;
  std::vector<Socket> sockets_;
  double seconds_;
  std::shared_ptr<const FailureState> alarm_;
  std::vector<Socket> wakeups_;
  std::shared_ptr<MappedMemory> segment_memory_;
  std::uint32_t windows_ = 0;
};

}  // namespace trireme::comm
