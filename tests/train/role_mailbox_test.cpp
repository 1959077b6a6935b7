// Messages between threads that are ranks of a group.
#include "train/messages/role_mailbox.h"

#include <gtest/gtest.h>

#include <thread>

#include "base/error.h"
#include "comm/transport/inproc.h"
#include "train/helm/helm_mailbox.h"

namespace trireme::train {
namespace {

constexpr double kMailSeconds = 20;

TEST(RoleMailbox, TextsOfAllSizesComeInOrder) {
  auto groups = comm::inproc_groups(2, kMailSeconds);
  const std::vector<std::size_t> sizes{0, 1, 8, 1000, 100'000, 3'000'000, 2};
  std::thread sender([&] {
    for (const std::size_t size : sizes) send_text(groups[1].mailbox(), 0, kText, std::string(size, 'x'));
  });
  for (const std::size_t size : sizes) EXPECT_EQ(receive_text(groups[0].mailbox(), 1, kText), std::string(size, 'x'));
  sender.join();
}

TEST(RoleMailbox, ToOneself) {
  auto groups = comm::inproc_groups(1, kMailSeconds);
  std::thread receiver([&] {
    EXPECT_EQ(std::get<EvaluateOrder>(receive_order(groups[0].mailbox(), 0, kOrder)), (EvaluateOrder{true, 3}));
  });
  send_order(groups[0].mailbox(), 0, kOrder, EvaluateOrder{true, 3});
  receiver.join();
}

TEST(RoleMailbox, ReportsComeFromAnybodyWithTheirSender) {
  auto groups = comm::inproc_groups(3, kMailSeconds);
  std::vector<std::byte> room;
  EXPECT_FALSE(receive_report(groups[0].mailbox(), comm::kAnyRank, 0.01, room)) << "none was sent";
  std::vector<std::thread> senders;
  for (int rank = 1; rank < 3; ++rank)
    senders.emplace_back([&, rank] {
      for (int i = 0; i < 50; ++i)
        send_report(groups[static_cast<std::size_t>(rank)].mailbox(), 0, PushMessage{.pusher = rank, .step = i});
    });
  std::vector<int> next(3);
  for (int i = 0; i < 100; ++i) {
    const auto got = receive_report(groups[0].mailbox(), comm::kAnyRank, kMailSeconds, room);
    ASSERT_TRUE(got);
    const auto& push = std::get<PushMessage>(got->report);
    EXPECT_EQ(push.pusher, got->from);
    EXPECT_EQ(push.step, next[static_cast<std::size_t>(got->from)]++) << "in order";
  }
  for (std::thread& sender : senders) sender.join();
}

// The ledger of a large set is longer than what a receiver keeps ready; short reports of another thread of
// that process may come in between.
TEST(RoleMailbox, LongReportsComeWhole) {
  auto groups = comm::inproc_groups(2, kMailSeconds);
  const std::vector<std::size_t> sizes{0, 1000, 600'000, 3'000'000, 2};
  std::thread sender([&] {
    for (const std::size_t size : sizes)
      send_report(groups[1].mailbox(), 0, IntervalEndMessage{1, 0, std::string(size, 'x')});
  });
  std::thread asks([&] {
    for (int i = 0; i < 50; ++i) send_report(groups[1].mailbox(), 0, ShareRequest{7});
  });
  std::vector<std::byte> room;
  std::size_t ledgers = 0, requests = 0;
  while (ledgers + requests < sizes.size() + 50) {
    const auto got = receive_report(groups[0].mailbox(), 1, kMailSeconds, room);
    ASSERT_TRUE(got);
    if (const auto* message = std::get_if<IntervalEndMessage>(&got->report)) {
      EXPECT_EQ(message->ledger, std::string(sizes[ledgers++], 'x'));
    } else {
      EXPECT_EQ(std::get<ShareRequest>(got->report).pusher, 7);
      ++requests;
    }
  }
  sender.join();
  asks.join();
}

TEST(RoleMailbox, SharesAndLimits) {
  auto groups = comm::inproc_groups(2, kMailSeconds);
  EXPECT_FALSE(receive_message_within<LimitMessage>(0, groups[1].mailbox(), 0, kLimit));
  send_message(groups[0].mailbox(), 1, kAssign, ShareReply{5, {2, 4}});
  send_message(groups[0].mailbox(), 1, kLimit, LimitMessage{1, 2, 3});
  EXPECT_EQ(receive_message<ShareReply>(groups[1].mailbox(), 0, kAssign), (ShareReply{5, {2, 4}}));
  EXPECT_EQ(receive_message<LimitMessage>(groups[1].mailbox(), 0, kLimit), (LimitMessage{1, 2, 3}));
}

TEST(RoleMailbox, AFailureTakesThePlaceOfAnyAnswer) {
  auto groups = comm::inproc_groups(2, kMailSeconds);
  strategy::RoleMap roles;
  roles.workers = 2;
  HelmMailbox helm_mailbox(groups[0], roles);
  send_report(groups[1].mailbox(), 0, TrafficReply{3, 4});
  EXPECT_EQ(helm_mailbox.answer_of<TrafficReply>(1).received, 4u);
  send_report(groups[1].mailbox(), 0, FailureMessage{"no memory"});
  try {
    helm_mailbox.answer_of<EvaluationReply>(1);
    FAIL();
  } catch (const base::Error& error) {
    EXPECT_EQ(error.what(), roles.name(1) + ": no memory");
  }
}

TEST(RoleMailbox, StateOfTheWrongSizeIsNoticed) {
  auto groups = comm::inproc_groups(1, kMailSeconds);
  std::vector<float> sent(10), into(11);
  send_values<float>(groups[0].mailbox(), 0, kState, sent);
  EXPECT_THROW(receive_bytes(groups[0].mailbox(), 0, kState, std::as_writable_bytes(std::span(into))), std::exception);
}

// Whoever waits is told when nobody can answer any more.
TEST(RoleMailbox, AWaitEndsWithTheGroup) {
  auto groups = comm::inproc_groups(1, kMailSeconds);
  std::string sentence;
  std::thread waiting([&] {
    try {
      receive_order(groups[0].mailbox(), 0, kOrder);
    } catch (const base::Error& error) {
      sentence = error.what();
    }
  });
  groups[0].give_up("the ship has sunk");
  waiting.join();
  EXPECT_NE(sentence.find("the ship has sunk"), std::string::npos) << sentence;
}

}  // namespace
}  // namespace trireme::train
