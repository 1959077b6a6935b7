// Collectives in the background: several in flight, beside others in the foreground, in order, and with their errors at
// the wait.
#include <chrono>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

class InBackground : public testing::TestWithParam<std::string> {};

TEST_P(InBackground, SeveralAreInFlight) {
  for (const int world : worlds_of({1, 2, 3, 5}))
    run_over(GetParam(), world, [&](Group& group) {
      constexpr std::size_t kCount = 8;
      std::vector<std::vector<float>> data;
      for (std::size_t i = 0; i < kCount; ++i) data.emplace_back(1000 * i + 1, static_cast<float>(i));
      std::vector<PendingCollective> pending;
      for (std::size_t i = 0; i < kCount; ++i)
        pending.push_back(group.start([&data, i](Collectives& c) { c.all_reduce(data[i], Reduction::sum); }));
      std::vector<float> front(5000, 1.0f);
      for (int turn = 0; turn < 10; ++turn) group.all_reduce(front, Reduction::max);
      for (std::size_t i = kCount; i-- > 0;) {
        pending[i].wait();
        EXPECT_EQ(data[i].back(), static_cast<float>(i) * static_cast<float>(world));
      }
      EXPECT_EQ(front[4999], 1.0f);
    });
}

TEST_P(InBackground, SharedMemoryIsReducedWhereItLies) {
  run_world(make_groups(GetParam(), 3), [](Group& group) {
    const auto window = group.allocate(400000);
    const std::span<float> data(reinterpret_cast<float*>(window->own().data()), 100000);
    for (int turn = 1; turn <= 5; ++turn) {
      std::fill(data.begin(), data.end(), static_cast<float>(turn));
      PendingCollective pending = group.start([&](Collectives& c) { c.all_reduce(data, Reduction::sum); });
      group.barrier();
      pending.wait();
      EXPECT_EQ(data[99999], static_cast<float>(3 * turn));
    }
  });
}

TEST_P(InBackground, WhatIsStartedIsFinishedBeforeTheGroupGoes) {
  std::vector<std::vector<float>> data(3, std::vector<float>(1000, 2.0f));
  run_world(make_groups(GetParam(), 3), [&](Group& group) {
    Group own = std::move(group);
    const auto rank = static_cast<std::size_t>(own.rank());
    own.start([&data, rank](Collectives& c) { c.all_reduce(data[rank], Reduction::sum); });
  });
  for (const auto& one : data) EXPECT_EQ(one[999], 6.0f);
}

TEST_P(InBackground, ErrorsComeAtTheWait) {
  auto groups = make_groups(GetParam(), 2);
  const auto errors = run_ranks(groups, [](Group& group) {
    std::vector<float> data(group.rank() == 0 ? 100 : 200), more(10);
    PendingCollective bad = group.start([&](Collectives& c) { c.all_reduce(data, Reduction::sum); });
    PendingCollective later = group.start([&](Collectives& c) { c.all_reduce(more, Reduction::sum); });
    EXPECT_THROW(later.wait(), std::exception) << "what comes after a failure fails with it";
    bad.wait();
  });
  for (const std::string& error : errors)
    EXPECT_NE(error.find("all ranks must run the same program"), std::string::npos) << error;
}

TEST_P(InBackground, IsDoneWithoutAWait) {
  run_world(make_groups(GetParam(), 2), [](Group& group) {
    std::vector<float> data(10, 1.0f);
    PendingCollective pending = group.start([&](Collectives& c) { c.all_reduce(data, Reduction::sum); });
    const auto start = std::chrono::steady_clock::now();
    while (!pending.is_done() && std::chrono::steady_clock::now() - start < std::chrono::seconds(10))
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    EXPECT_TRUE(pending.is_done());
    pending.wait();
    EXPECT_EQ(data[9], 2.0f);
  });
}

// Whoever waits runs what has not begun, in the order in which it was started.
TEST_P(InBackground, AWaiterRunsThemItself) {
  run_world(make_groups(GetParam(), 3), [](Group& group) {
    for (int turn = 0; turn < 20; ++turn) {
      std::vector<float> first(1000, 1.0f), second(10, 2.0f);
      PendingCollective before = group.start([&](Collectives& c) { c.all_reduce(first, Reduction::sum); });
      PendingCollective after = group.start(
          [&](Collectives& c) {
            EXPECT_EQ(first[0], 3.0f);
            c.all_reduce(second, Reduction::sum);
          },
          RunBy::waiter);
      after.wait();
      EXPECT_TRUE(before.is_done());
      EXPECT_EQ(second[9], 6.0f);
      before.wait();
      after.wait();  // again: nothing
    }
  });
}

INSTANTIATE_TEST_SUITE_P(Over, InBackground, testing::ValuesIn(all_transports()),
                         [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trireme::comm
