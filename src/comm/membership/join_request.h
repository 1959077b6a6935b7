// JoinRequest: what a process knows when it joins its group, whatever carries the messages.
#pragma once

#include <string>

#include "comm/membership/failure_detector.h"

namespace trireme::comm {

struct JoinRequest {
  Address address;  // of the rendezvous
  std::string token;
  int rank = 0, world = 1;
  std::string program = "trireme";  // equal on all ranks
  bool tls = false;                 // connections between hosts are encrypted; equal on all ranks
  double join_seconds = 60;         // until all must be there
  double deadline_seconds = 60;     // of a collective in which nothing moves
  FailureTimeouts patience{};       // rank 0's silent_seconds count for all
  bool elects = true;               // regroup() goes on without rank 0
};

}  // namespace trireme::comm
