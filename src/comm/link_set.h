// LinkSet: one rank's links to all others, with what a wait for them needs. Every user of links (the collectives, those
// in the background, point to point) has a set of its own, so none meets another's messages.
#pragma once

#include <memory>
#include <optional>
#include <vector>

#include "comm/alarm.h"
#include "comm/bell.h"
#include "comm/link.h"
#include "comm/meeting.h"
#include "comm/traffic.h"

namespace trireme::comm {

struct LinkSet {
  int rank = 0;
  std::shared_ptr<const void> memory;        // what links and bell lie in
  std::vector<std::unique_ptr<Link>> links;  // that of this rank is empty
  Bell bell;
  std::shared_ptr<Alarm> alarm;
  std::vector<int> hosts;            // of each rank: a number, equal for those that share memory
  double deadline_seconds = 60;      // of an operation in which nothing moves
  std::optional<Meeting> meeting{};  // where all ranks share memory
  std::shared_ptr<Traffic> traffic = std::make_shared<Traffic>();
};

}  // namespace trireme::comm
