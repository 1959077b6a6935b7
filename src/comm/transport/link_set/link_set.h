// LinkSet: one rank's links to all others, with what is needed to wait for them.
// One caller at a time.
// The collectives, the background collectives and the mailbox have a set each, so their messages do not mix.
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
  std::shared_ptr<const void> memory;        // keeps the memory of links and wakeup alive
  std::vector<std::unique_ptr<Link>> links;  // empty for this rank
  Wakeup wakeup;
  std::shared_ptr<FailureState> alarm;
  std::vector<int> hosts;                // per rank: a number, equal for ranks that share memory
  double deadline_seconds = 60;          // how long an operation may take without progress
  std::optional<HostBarrier> barrier{};  // only if all ranks share memory
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
};

}  // namespace trireme::comm
