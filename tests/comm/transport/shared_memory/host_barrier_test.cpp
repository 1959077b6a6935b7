// Ranks that come together in memory: all go on, with what all left; who is in something else is told.
#include "comm/transport/shared_memory/host_barrier.h"

#include <algorithm>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

class Meetings : public testing::TestWithParam<std::string> {};

// Ranks come late in turn, so that some sleep and others spin.
TEST_P(Meetings, EveryoneGetsWhatAllLeft) {
  for (const int world : {1, 2, 3, 5, 8, 13})
    run_world(make_groups(GetParam(), world), [&](Group& group) {
      for (int turn = 0; turn < 60; ++turn) {
        if (turn % 10 == 0 && turn / 10 % world == group.rank())
          std::this_thread::sleep_for(std::chrono::milliseconds(2));
        const std::size_t count = turn % 3 == 0 ? 0 : turn % 3 == 1 ? 1 : 500;
        std::vector<int> own(count, group.rank() * 1000 + turn), all(count * static_cast<std::size_t>(world));
        group.all_gather(std::as_bytes(std::span(own)), std::as_writable_bytes(std::span(all)));
        for (std::size_t i = 0; i < all.size(); ++i)
          ASSERT_EQ(all[i], static_cast<int>(i / count) * 1000 + turn) << turn << ' ' << i;
      }
    });
}

// Between meetings there are messages, and some ranks are further than others.
TEST_P(Meetings, AmongOtherThings) {
  run_world(make_groups(GetParam(), 4), [](Group& group) {
    for (int turn = 0; turn < 200; ++turn) {
      std::vector<float> value{static_cast<float>(turn)};
      group.broadcast(std::as_writable_bytes(std::span(value)), turn % 4);
      std::vector<std::byte> own(8), all(32);
      group.all_gather(own, all);
      if (turn % 7 == 0) group.barrier();
      if (turn % 5 == 0) group.among({0, 1, 2, 3}, group.sequence());
    }
  });
}

TEST_P(Meetings, WhoIsInSomethingElseIsNamed) {
  for (const bool waits_for_a_message : {false, true}) {
    auto groups = make_groups(GetParam(), 3);
    const auto errors = run_ranks(groups, [&](Group& group) {
      std::vector<std::byte> own(16), all(48);
      group.all_gather(own, all);
      if (group.rank() != 1) return group.all_gather(own, all);
      if (waits_for_a_message)
        group.broadcast(own, 0);
      else
        group.barrier();
    });
    const bool told = std::ranges::any_of(errors, [](const std::string& error) {
      return error.find("must run the same program with the same settings") != std::string::npos;
    });
    EXPECT_TRUE(told) << errors[0] << '\n' << errors[1] << '\n' << errors[2];
  }
}

TEST_P(Meetings, OfDifferentSizesAreNamed) {
  auto groups = make_groups(GetParam(), 2);
  const auto errors = run_ranks(groups, [](Group& group) {
    const std::size_t bytes = group.rank() == 0 ? 8 : 16;
    std::vector<std::byte> own(bytes), all(2 * bytes);
    group.all_gather(own, all);
  });
  for (const std::string& error : errors) EXPECT_NE(error.find("all-gather 0 of "), std::string::npos) << error;
}

TEST(HostBarrier, WhoLeftIsNamed) {
  auto groups = make_groups("shm", 3);
  std::vector<std::string> errors(3);
  std::vector<std::thread> threads;
  for (std::size_t rank = 0; rank < 3; ++rank)
    threads.emplace_back([&, rank] {
      Group group = std::move(groups[rank]);
      if (rank == 2) return;
      try {
        std::vector<std::byte> own(16), all(48);
        group.all_gather(own, all);
      } catch (const std::exception& error) {
        errors[rank] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_NE(errors[0].find("rank 2 has left the group"), std::string::npos) << errors[0];
}

INSTANTIATE_TEST_SUITE_P(Over, Meetings, testing::Values("inproc", "shm", "tcp"),
                         [](const auto& test) { return test.param; });

}  // namespace
}  // namespace trireme::comm
