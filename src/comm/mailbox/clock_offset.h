// Clock offset: how far another rank's clock is ahead of this one's; the clocks of hosts have different origins.
// One caller per rank.
// One rank asks the other for its time, several times, and assumes that the other read its clock halfway between
// question and answer. The exchange with the shortest round trip counts; its error is at most half that round trip.
#pragma once

#include <cstdint>
#include <functional>

#include "base/system/clock.h"
#include "comm/mailbox/clock_fit.h"
#include "comm/mailbox/mailbox.h"

namespace trireme::comm {

struct ClockOffset {
  std::int64_t ahead_ns = 0;       // of the answerer's clock
  std::int64_t round_trip_ns = 0;  // of the fastest exchange
};

// One rank calls ask_clock(), the other answer_clock(), with a tag that neither uses for anything else meanwhile.
ClockOffset ask_clock(Mailbox& mailbox, int answerer, Tag tag, const Clock& clock = base::now_ns);
void answer_clock(Mailbox& mailbox, int asker, Tag tag, const Clock& clock = base::now_ns);

}  // namespace trireme::comm
