// Messages from rank to rank: over transports, sizes and threads; order, tags, any sender, back-pressure, refusals.
#include <atomic>
#include <chrono>

#include <fmt/format.h>

#include "comm/worlds.h"

namespace trireme::comm {
namespace {

constexpr std::size_t kShort = 16 << 10, kLong = 4000028;

std::vector<std::byte> text(int from, int to, std::size_t count) {
  std::vector<std::byte> all(count);
  for (std::size_t i = 0; i < count; ++i) all[i] = static_cast<std::byte>((i * 7 + i / 251 + 13 * from + 3 * to) % 256);
  return all;
}

std::span<const std::byte> number(const int& value) { return std::as_bytes(std::span(&value, 1)); }

class PointToPoint : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  int world() const { return std::get<1>(GetParam()); }
  void run(const std::function<void(Group&)>& body) const {
    run_over(std::get<0>(GetParam()), world(), [&](Group& group) {
      body(group);
      group.barrier();  // nobody leaves before all are through
    });
  }
};

TEST_P(PointToPoint, EveryPairAndSize) {
  run([&](Group& group) {
    for (const std::size_t size :
         {std::size_t{0}, std::size_t{1}, std::size_t{3}, std::size_t{1000}, kShort, kShort + 1, kLong})
      for (int distance = 0; distance < world(); ++distance) {
        const int to = (group.rank() + distance) % world(), from = (group.rank() - distance + world()) % world();
        std::vector<std::byte> got(size + 5);
        Received received;
        std::thread receiver([&] { received = group.mailbox().receive(from, 7, got); });
        group.mailbox().send(to, 7, text(group.rank(), to, size));
        receiver.join();
        EXPECT_EQ(received.from, from);
        ASSERT_EQ(received.bytes, size);
        got.resize(size);
        EXPECT_EQ(got, text(from, group.rank(), size)) << size << " bytes from " << from;
      }
  });
}

TEST_P(PointToPoint, MessagesOfOneTagComeInOrderAndTagsDoNotMix) {
  run([&](Group& group) {
    if (world() == 1) return;
    constexpr int kCount = 300;
    if (group.rank() == 1) {
      for (int i = 0; i < kCount; ++i) group.mailbox().send(0, static_cast<Tag>(i % 3), number(i));
      group.mailbox().send(0, 5, text(1, 0, kLong));
    } else if (group.rank() == 0) {
      // The long one was sent last and is wanted first, from elsewhere.
      std::thread elsewhere([&] {
        std::vector<std::byte> got(kLong);
        group.mailbox().receive(1, 5, got);
        EXPECT_EQ(got, text(1, 0, kLong));
      });
      for (const int tag : {2, 0, 1})
        for (int i = tag; i < kCount; i += 3) {
          int got = -1;
          group.mailbox().receive(kAnyRank, static_cast<Tag>(tag), std::as_writable_bytes(std::span(&got, 1)));
          EXPECT_EQ(got, i);
        }
      elsewhere.join();
    }
  });
}

// Each rank serves all others and is a client of all, in two threads.
TEST_P(PointToPoint, AServerInEveryRankAnswersWhoeverAsks) {
  constexpr Tag kAsk = 1, kAnswer = 2;
  constexpr int kRounds = 40;
  run([&](Group& group) {
    Mailbox& mailbox = group.mailbox();
    std::thread server([&] {
      std::vector<int> request(kLong / 4);
      for (int served = 0; served < kRounds * world(); ++served) {
        const Received got = mailbox.receive(kAnyRank, kAsk, std::as_writable_bytes(std::span(request)));
        for (int& value : std::span(request).first(got.bytes / sizeof(int))) value += group.rank();
        mailbox.send(got.from, kAnswer, std::as_bytes(std::span(request)).first(got.bytes));
      }
    });
    for (int round = 0; round < kRounds; ++round)
      for (int to = 0; to < world(); ++to) {
        std::vector<int> mine(round % 8 == 7 ? 100000 : 10 + static_cast<std::size_t>(round), round), got(mine.size());
        mailbox.send(to, kAsk, std::as_bytes(std::span(mine)));
        EXPECT_EQ(mailbox.receive(to, kAnswer, std::as_writable_bytes(std::span(got))).bytes, 4 * mine.size());
        EXPECT_EQ(got.front(), round + to);
        EXPECT_EQ(got.back(), round + to);
      }
    server.join();
  });
}

TEST_P(PointToPoint, ASenderDoesNotGetFarAheadOfItsReceiver) {
  if (world() == 1) return;
  std::atomic<int> sent{0};
  constexpr int kCount = 1000, kBytes = 10000;
  run([&](Group& group) {
    std::vector<std::byte> message(kBytes);
    if (group.rank() == 1) {
      for (int i = 0; i < kCount; ++i, ++sent) group.mailbox().send(0, 1, message);
    } else if (group.rank() == 0) {
      int before = -1;
      const auto start = std::chrono::steady_clock::now();
      while (before != sent || (sent < 50 && std::chrono::steady_clock::now() - start < std::chrono::seconds(15))) {
        before = sent;
        EXPECT_FALSE(group.mailbox().receive_within(0.1, 1, 2, message)) << "another tag";
      }
      EXPECT_GE(before, 50);
      EXPECT_LE(before, 110) << "a megabyte of them";
      for (int i = 0; i < kCount; ++i) EXPECT_EQ(group.mailbox().receive(kAnyRank, 1, message).bytes, message.size());
    }
  });
}

TEST_P(PointToPoint, OneThatIsTooLongIsRefusedAndStays) {
  if (world() == 1) return;
  run([&](Group& group) {
    for (const std::size_t size : {std::size_t{100}, kLong}) {
      if (group.rank() == 1) group.mailbox().send(0, 4, text(1, 0, size));
      if (group.rank() != 0) continue;
      std::vector<std::byte> got(size - 1);
      try {
        group.mailbox().receive(1, 4, got);
        ADD_FAILURE() << size;
      } catch (const std::exception& error) {
        EXPECT_STREQ(error.what(), fmt::format("rank 0, receiving from rank 1 (tag 4): rank 1 sent {} bytes, there is "
                                               "room for {}",
                                               size, size - 1)
                                       .c_str());
      }
      got.resize(size);
      EXPECT_EQ(group.mailbox().receive(1, 4, got).bytes, size);
    }
  });
}

TEST(Mailbox, OneThatIsTooLongForTheFirstGoesToTheNextInLine) {
  std::vector<Group> groups = inproc_groups(2, kTestDeadline);
  for (const std::size_t size : {std::size_t{100}, kLong}) {
    std::vector<std::byte> little(10), much(kLong);
    bool is_refused = false;
    std::thread first([&] {
      try {
        groups[0].mailbox().receive(1, 4, little);
      } catch (const std::exception&) {
        is_refused = true;
      }
    });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    std::thread second([&] { EXPECT_EQ(groups[0].mailbox().receive(1, 4, much).bytes, size); });
    std::this_thread::sleep_for(std::chrono::milliseconds(20));
    groups[1].mailbox().send(0, 4, text(1, 0, size));
    first.join();
    second.join();
    EXPECT_TRUE(is_refused);
  }
}

TEST_P(PointToPoint, NothingWithinATime) {
  run([&](Group& group) {
    int got = 0;
    const auto into = std::as_writable_bytes(std::span(&got, 1));
    const auto start = std::chrono::steady_clock::now();
    EXPECT_FALSE(group.mailbox().receive_within(0, kAnyRank, 9, into));
    EXPECT_FALSE(group.mailbox().receive_within(0.05, kAnyRank, 9, into));
    EXPECT_GE(std::chrono::steady_clock::now() - start, std::chrono::milliseconds(50));
    group.barrier();
    const int mine = group.rank();
    group.mailbox().send((group.rank() + 1) % world(), 9, number(mine));
    const auto came = group.mailbox().receive_within(kTestDeadline, kAnyRank, 9, into);
    ASSERT_TRUE(came);
    EXPECT_EQ(got, (group.rank() + world() - 1) % world());
    EXPECT_EQ(came->from, got);
  });
}

INSTANTIATE_TEST_SUITE_P(Worlds, PointToPoint,
                         testing::Combine(testing::ValuesIn(all_transports()),
                                          testing::ValuesIn(worlds_of({1, 2, 3, 5}))),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_" + std::to_string(std::get<1>(one.param));
                         });

TEST(Mailbox, WhoHasLeftIsNamed) {
  for (const std::string transport : {"shm", "tcp", "tls"}) {
    std::vector<Group> groups = make_groups(transport, 2);
    ASSERT_EQ(groups.size(), 2u);
    const int value = 3;
    groups[1].mailbox().send(0, 1, number(value));
    groups.pop_back();
    int got = 0;
    const auto into = std::as_writable_bytes(std::span(&got, 1));
    EXPECT_EQ(groups[0].mailbox().receive(kAnyRank, 1, into).from, 1);
    EXPECT_EQ(got, 3);
    for (const int from : {1, kAnyRank}) {
      try {
        groups[0].mailbox().receive(from, 1, into);
        ADD_FAILURE() << transport;
      } catch (const std::exception& error) {
        EXPECT_EQ(std::string(error.what()),
                  from == 1 ? "rank 0, receiving from rank 1 (tag 1): rank 1 has left the group"
                            : "rank 0, receiving from any rank (tag 1): all others have left the group");
      }
    }
    EXPECT_THROW(groups[0].mailbox().send(1, 1, number(value)), std::exception);
  }
}

}  // namespace
}  // namespace trireme::comm
