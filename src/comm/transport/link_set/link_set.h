// LinkSet: one rank's links to all others, with what a wait for them needs. Every user of links (the collectives, those
// in the background, point to point) has a set of its own, so none meets another's messages.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/transport/link/failure_state.h"
#include "comm/transport/link/link.h"
#include "comm/transport/link_set/traffic.h"
#include "comm/transport/shared_memory/host_barrier.h"
#include "comm/transport/shared_memory/wakeup.h"

namespace trireme::comm {

struct LinkSet {
  int rank = 0;
  std::shared_ptr<const void> memory;        // what links and wakeup lie in
  std::vector<std::unique_ptr<Link>> links;  // that of this rank is empty
  Wakeup wakeup;
  std::shared_ptr<FailureState> alarm;
  std::vector<int> hosts;                // of each rank: a number, equal for those that share memory
  double deadline_seconds = 60;          // of an operation in which nothing moves
  std::optional<HostBarrier> barrier{};  // where all ranks share memory
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
};

}  // namespace trireme::comm
