// What goes wrong between real processes besides a death: each rank says in one sentence what, in bounded time, and who
// has nothing to do with it goes on.
#include <fmt/format.h>

#include "base/system/clock.h"
#include "comm/processes.h"
#include "comm/relay.h"
#include "comm/transport/tcp/handshake.h"
#include "support/core_errors.h"

namespace trireme::comm {
namespace {

using support::contains;

class Fault : public testing::TestWithParam<std::string> {
 protected:
  JoinOptions options(int rank, int world) const {
    JoinOptions options = test_options(address_, rank, world);
    choose_transport(options, GetParam());
    return options;
  }
  Address address_ = free_address();
  std::int64_t start_ns_ = base::now_ns();
};

TEST_P(Fault, OtherSizesAreNamedOnBothSides) {
  for (const std::size_t count : {10, 300000}) {
    address_ = free_address();
    std::vector<Process> ranks;
    for (int rank = 0; rank < 2; ++rank)
      ranks.push_back(start(options(rank, 2), [&](Group& group) {
        std::vector<float> data(count + static_cast<std::size_t>(group.rank()));
        group.all_reduce(data, Reduction::sum);
      }));
    for (int rank = 0; rank < 2; ++rank) {
      const std::string words = last_words(ranks[static_cast<std::size_t>(rank)]);
      const auto bytes = [&](int of) { return 4 * (count + static_cast<std::size_t>(of)); };
      EXPECT_TRUE(contains(words, fmt::format("rank {} is in all-reduce 1 of {} bytes", rank, bytes(rank)))) << words;
      EXPECT_TRUE(contains(words, fmt::format("but rank {} sent", 1 - rank))) << words;
      EXPECT_TRUE(contains(words, fmt::format("bytes of its all-reduce 1 of {} bytes", bytes(1 - rank)))) << words;
    }
  }
  EXPECT_LT(base::seconds_since(start_ns_), 10);
}

TEST_P(Fault, AnotherWorldIsNamed) {
  JoinOptions waits = options(0, 2);
  waits.join_seconds = 1;
  const Process zero = start(waits, add_up), one = start(options(1, 3), add_up);
  EXPECT_TRUE(contains(last_words(one), "was started for 3 ranks, rank 0 for 2"));
  EXPECT_TRUE(contains(last_words(zero), "rank 1 of 2 did not come"));
  EXPECT_LT(base::seconds_since(start_ns_), 10);
}

TEST_P(Fault, AnUnknownHostAndAPortInUseAreNamed) {
  const Socket taken = listen_on(address_);
  JoinOptions nowhere = options(1, 2);
  nowhere.address.host = "no-such-host.invalid";
  const Process zero = start(options(0, 2), add_up), one = start(nowhere, add_up);
  EXPECT_TRUE(contains(last_words(zero), "another program has this port"));
  EXPECT_TRUE(contains(last_words(one), "the host 'no-such-host.invalid'"));
  EXPECT_LT(base::seconds_since(start_ns_), 10);
}

// More who connect and say nothing than may stand at a listener.
TEST_P(Fault, SilentConnectionsHoldNobodyUp) {
  std::vector<Process> ranks{start(options(0, 3), add_up)};
  std::vector<Socket> silent;
  for (int i = 0; i < 300; ++i) silent.push_back(connect_to(address_, base::in_seconds(10)));
  for (int rank = 1; rank < 3; ++rank) ranks.push_back(start(options(rank, 3), add_up));
  for (const Process& rank : ranks) EXPECT_EQ(last_words(rank), "ready\ndone");
  EXPECT_LT(base::seconds_since(start_ns_), 4);  // and none waited for a listener to lose its patience
}

// All that one rank said, said again by another: its proof is for another challenge. The last rank comes through a
// second relay, which is there only after that.
TEST_P(Fault, AReplayedRankIsNotLetIn) {
  const Address by = free_address(), later_by = free_address();
  JoinOptions watched = options(1, 3), later = options(2, 3);
  watched.address = by;
  later.address = later_by;
  const std::vector<Process> ranks{start(options(0, 3), add_up), start(watched, add_up), start(later, add_up)};
  Relay relay(address_, std::string::npos, by);
  const std::int64_t deadline = base::in_seconds(10);
  while (relay.seen_of_guests().size() < kProofBytes + 100 && base::now_ns() < deadline) std::this_thread::yield();
  const std::string said = relay.seen_of_guests();
  EXPECT_GT(said.size(), kProofBytes);
  const Socket stranger = connect_to(address_, deadline);
  std::array<std::byte, kGreetingBytes> greeting{};
  receive_all(stranger, greeting, deadline);
  send_all(stranger, std::as_bytes(std::span(said)), deadline);
  std::array<std::byte, 1> answer{};
  EXPECT_THROW(receive_all(stranger, answer, deadline), GoneError);
  EXPECT_LT(base::now_ns(), deadline);
  const Relay later_relay(address_, std::string::npos, later_by);
  for (const Process& rank : ranks) EXPECT_EQ(last_words(rank), "ready\ndone");
}

INSTANTIATE_TEST_SUITE_P(Over, Fault, testing::Values("shm", "tcp", "tls"), [](const auto& one) { return one.param; });

}  // namespace
}  // namespace trireme::comm
