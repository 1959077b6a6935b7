// JoinRequest: what a process knows when it joins its group, for any transport. A plain value.
#pragma once

#include <string>

#include "comm/mailbox/clock_fit.h"
#include "comm/membership/failure_detector.h"

namespace trireme::comm {

struct JoinRequest {
  Address address;  // of the rendezvous
  std::string token;
  int rank = 0, world = 1;
  std::string program = "trireme";  // equal on all ranks
  bool tls = false;                 // connections between hosts are encrypted; equal on all ranks
  double join_seconds = 60;         // until all ranks must have arrived
  double deadline_seconds = 60;     // how long a wait may last without progress
  FailureTimeouts patience{};       // rank 0's silent_seconds apply to all ranks
  bool elects = true;               // regroup() may continue without rank 0
  Clock clock{};                    // of this rank, for comparing clocks; none: base::now_ns; tests pass their own
};

}  // namespace trireme::comm
