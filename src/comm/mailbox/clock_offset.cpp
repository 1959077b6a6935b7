#include "comm/mailbox/clock_offset.h"

#include <span>

#include "base/error.h"

namespace trireme::comm {
namespace {
constexpr int kQuestions = 16;
}  // namespace

ClockOffset ask_clock(Mailbox& mailbox, int answerer, Tag tag, const Clock& clock) {
  ClockOffset best;
  for (int i = 0; i < kQuestions; ++i) {
    const std::int64_t asked_ns = clock();
    mailbox.send(answerer, tag, {});
    std::int64_t answer_ns = 0;
    const Received received = mailbox.receive(answerer, tag, std::as_writable_bytes(std::span(&answer_ns, 1)));
    const std::int64_t round_trip_ns = clock() - asked_ns;
    base::check(received.bytes == sizeof answer_ns, "rank {} answered {} bytes when asked for its clock, expected {}",
                answerer, received.bytes, sizeof answer_ns);
    if (i == 0 || round_trip_ns < best.round_trip_ns)
      best = {answer_ns - (asked_ns + round_trip_ns / 2), round_trip_ns};
  }
  return best;
}

void answer_clock(Mailbox& mailbox, int asker, Tag tag, const Clock& clock) {
  for (int i = 0; i < kQuestions; ++i) {
    mailbox.receive(asker, tag, {});
    const std::int64_t now_ns = clock();
    mailbox.send(asker, tag, std::as_bytes(std::span(&now_ns, 1)));
  }
}

}  // namespace trireme::comm
