// SharedHost: the memory that the processes of one host share: their segments and windows.
// One caller at a time.
// The lowest rank allocates it and sends the descriptors to the others over local connections, which stay open.
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
  // `ranks` are this host's ranks in order. `sockets` lead from the lowest rank to all others, or from another rank to
  // the lowest. `seconds` is how long a rank may keep the others waiting; the wait also ends when the failure state is
  // raised.
  SharedHost(int rank, std::vector<int> ranks, std::size_t segments, std::vector<Socket> sockets, double seconds,
             std::shared_ptr<const FailureState> alarm);

  SharedSegment segment(std::size_t number) const;
  int place() const { return place_; }  // index of this rank among those of the host
  std::shared_ptr<const SharedWindow> allocate(std::size_t bytes) override;

 private:
  // Descriptors of new shared memory and of `wakeups` new eventfds: the lowest rank makes them and all ranks get them.
  std::vector<Socket> hand_out(std::size_t bytes, std::size_t wakeups);
  bool is_lowest() const { return place_ == 0; }
  // Returns when the lowest rank has sent something or is gone.
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
