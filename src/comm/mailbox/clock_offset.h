// How far another rank's clock is ahead: hosts count their time from moments of their own. One rank asks what time it
// is, several times, and takes the other's time to be that of the middle between question and answer. The quickest
// answer counts: its error is at most half the time it took.
#pragma once

#include <cstdint>
#include <functional>

#include "base/system/clock.h"
#include "comm/mailbox/mailbox.h"

namespace trireme::comm {

struct ClockOffset {
  std::int64_t ahead_ns = 0;       // of the answerer's clock
  std::int64_t round_trip_ns = 0;  // of the quickest answer
};

// The clock of a rank; tests have others.
using Clock = std::function<std::int64_t()>;

// Called by two ranks, by one each, with a tag that they use for nothing else meanwhile.
ClockOffset ask_clock(Mailbox& mailbox, int answerer, Tag tag, const Clock& clock = base::now_ns);
void answer_clock(Mailbox& mailbox, int asker, Tag tag, const Clock& clock = base::now_ns);

}  // namespace trireme::comm
