// How far another rank's clock is ahead, over transports.
#include <cstdlib>

#include "comm/mailbox/clock_offset.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

constexpr Tag kTag = 3;

class ClockOffsets : public testing::TestWithParam<std::string> {};

// All ranks of a test have one clock, so what is found can be off by half a round trip at most.
TEST_P(ClockOffsets, AreFound) {
  for (const std::int64_t shift : {std::int64_t{0}, std::int64_t{5'000'000'000}, std::int64_t{-86'400'000'000'000}})
    run_world(make_groups(GetParam(), 3), [&](Group& group) {
      if (group.rank() > 0)
        return answer_clock(group.mailbox(), 0, kTag, [&] { return base::now_ns() + group.rank() * shift; });
      for (const int other : {2, 1}) {
        const ClockOffset found = ask_clock(group.mailbox(), other, kTag);
        EXPECT_GT(found.round_trip_ns, 0);
        EXPECT_LE(std::abs(found.ahead_ns - other * shift), found.round_trip_ns / 2 + 1);
      }
    });
}

INSTANTIATE_TEST_SUITE_P(Over, ClockOffsets, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& one) { return one.param; });

// WorkerClocks that tell what they are told to: one quick answer among slow ones, which are answered late.
TEST(ClockOffset, TheQuickestAnswerCounts) {
  run_world(inproc_groups(2, kTestDeadline), [&](Group& group) {
    std::int64_t question = 0;
    if (group.rank() == 1)
      return answer_clock(group.mailbox(), 0, kTag, [&] {
        const std::int64_t way = question == 5 ? 50 : 900;
        return 1000 * question++ + way + 7;
      });
    bool is_asked = false;
    const ClockOffset found = ask_clock(group.mailbox(), 1, kTag, [&] {
      is_asked = !is_asked;
      if (is_asked) return 1000 * question;
      const std::int64_t trip = question == 5 ? 100 : 1000;
      return 1000 * question++ + trip;
    });
    EXPECT_EQ(found.ahead_ns, 7);
    EXPECT_EQ(found.round_trip_ns, 100);
  });
}

}  // namespace
}  // namespace trireme::comm
