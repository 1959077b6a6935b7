// Ranks on several hosts (network namespaces): shared memory inside, TCP between; slow, lossy and cut networks.
#include "comm/network.h"

#include <fmt/format.h>
#include <signal.h>
#include <sys/wait.h>

#include <cmath>

#include "base/system/clock.h"
#include "comm/processes.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

constexpr int kPort = 7777;  // of a host nobody else is on

// One rank per entry of `hosts`, on that host.
class Ranks {
 public:
  Ranks(const Network& network, const std::vector<int>& hosts, const std::function<void(Group&)>& body,
        double silent_seconds = 10, const std::string& rendezvous = "") {
    for (std::size_t rank = 0; rank < hosts.size(); ++rank) {
      JoinOptions options = test_options({rendezvous.empty() ? network.address(hosts[0]) : rendezvous, kPort},
                                         static_cast<int>(rank), static_cast<int>(hosts.size()));
      options.patience.silent_seconds = silent_seconds;
      if (!rendezvous.empty()) options.join_seconds = 3;
      const int host = hosts[rank];
      processes_.push_back(start(options, body, [&network, host] { network.enter(host); }));
    }
  }
  ~Ranks() {
    for (const Process& rank : processes_) {
      kill(rank.number, SIGKILL);
      waitpid(rank.number, nullptr, 0);
      close(rank.words);
    }
  }
  Ranks(const Ranks&) = delete;
  Ranks& operator=(const Ranks&) = delete;

  void expect_ready() const {
    for (const Process& rank : processes_) EXPECT_EQ(read_until(rank.words, '\n'), "ready");
  }
  std::string last_words(int rank) const { return read_until(processes_[static_cast<std::size_t>(rank)].words, '\0'); }
  int count() const { return static_cast<int>(processes_.size()); }

 private:
  std::vector<Process> processes_;
};

class NetworkOfHosts : public testing::Test {
 protected:
  void SetUp() override {
    if (const std::string why = Network::why_not(); !why.empty()) GTEST_SKIP() << why;
  }
};

void check(bool is_right, const std::string& what) {
  if (!is_right) throw std::runtime_error(what);
}

// Every all-reduce, the exact one and messages, against closed forms.
void do_everything(Group& group, std::size_t count) {
  const float all = static_cast<float>(group.world() * (group.world() + 1) / 2);
  for (const AllReduce& algorithm : all_reduce_list()) {
    std::vector<float> data(count, static_cast<float>(group.rank() + 1));
    group.all_reduce(data, Reduction::sum, algorithm.algorithm);
    for (const float value : data) check(value == all, std::string(algorithm.name));
  }
  std::vector<float> data(count, static_cast<float>(group.rank() + 1));
  group.all_reduce(data, Reduction::sum);
  for (const float value : data) check(value == all, "automatic");
  OarShares shares{group.world(), {}, {}};
  for (int rank = 0; rank < group.world(); ++rank) shares.held.push_back({rank, rank + 1});
  std::vector<float> own(count, static_cast<float>(group.rank() + 1));
  group.exact_all_reduce(ExactPlan(shares), std::vector{std::span(own)}, own);
  for (const float value : own) check(value == all, "exact");
  const int next = (group.rank() + 1) % group.world(), before = (group.rank() + group.world() - 1) % group.world();
  std::vector<float> come(count);
  std::thread receiver([&] { group.mailbox().receive(before, 3, std::as_writable_bytes(std::span(come))); });
  group.mailbox().send(next, 3, std::as_bytes(std::span(own)));
  receiver.join();
  for (const float value : come) check(value == all, "message");
  group.barrier();
}

TEST_F(NetworkOfHosts, SharedMemoryInsideAndTcpBetween) {
  const Network network(3, {.bits_per_second = 1e9, .delay_seconds = 0.0002});
  for (const std::vector<int>& hosts :
       std::vector<std::vector<int>>{{0, 1}, {0, 0, 1, 1}, {0, 1, 2}, {2, 0, 1, 0, 2}}) {
    const Ranks ranks(network, hosts, [](Group& group) {
      for (const std::size_t count : {0, 1, 1000, 300007}) do_everything(group, count);
    });
    ranks.expect_ready();
    for (int rank = 0; rank < ranks.count(); ++rank) EXPECT_EQ(ranks.last_words(rank), "done") << rank;
  }
}

TEST_F(NetworkOfHosts, ASlowAndLossyNetworkIsSlowAndNothingElse) {
  const Network network(2, {.bits_per_second = 20e6, .delay_seconds = 0.02, .loss = 0.02});
  const Ranks ranks(network, {0, 1}, [](Group& group) { do_everything(group, 10007); });
  ranks.expect_ready();
  for (int rank = 0; rank < 2; ++rank) EXPECT_EQ(ranks.last_words(rank), "done");
}

// A cut cable looks the same from both sides: whoever cannot be reached is named, within the patience.
TEST_F(NetworkOfHosts, ACutIsNoticedOnBothSides) {
  const Network network(2, {});
  const Ranks ranks(
      network, {0, 0, 1},
      [](Group& group) {
        std::vector<float> data(100000, 1.0f);
        for (;;) group.all_reduce(data, Reduction::max);
      },
      1.0);
  ranks.expect_ready();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  const std::int64_t start = base::now_ns();
  network.cut(1);
  for (const int rank : {0, 1}) {
    const std::string words = ranks.last_words(rank);
    EXPECT_TRUE(words.starts_with(fmt::format("rank {}, all-reduce ", rank))) << words;
    EXPECT_NE(words.find("rank 2 (process "), std::string::npos) << words;
  }
  const std::string words = ranks.last_words(2);
  EXPECT_NE(words.find("rank 0"), std::string::npos) << words;
  EXPECT_LT(base::seconds_since(start), 5.0);
}

// What was lost on the way is sent again, heartbeats too.
TEST_F(NetworkOfHosts, ACutShorterThanThePatienceIsSurvived) {
  constexpr int kRounds = 2000;
  const Network network(2, {});
  const Ranks ranks(
      network, {0, 0, 1},
      [](Group& group) {
        for (int round = 0; round < kRounds; ++round) {
          std::vector<float> data(1000, 1.0f);
          group.all_reduce(data, Reduction::sum);
          check(data[999] == 3, "the sum");
          std::this_thread::sleep_for(std::chrono::milliseconds(1));
        }
      },
      40);
  ranks.expect_ready();
  std::this_thread::sleep_for(std::chrono::milliseconds(200));
  network.cut(1);
  std::this_thread::sleep_for(std::chrono::seconds(8));
  network.mend(1);
  for (int rank = 0; rank < 3; ++rank) EXPECT_EQ(ranks.last_words(rank), "done") << rank;
}

TEST_F(NetworkOfHosts, AMeetingThatCannotBeReachedIsNamed) {
  const Network network(2, {});
  const std::int64_t start = base::now_ns();
  const Ranks ranks(
      network, {0, 1}, [](Group&) {}, 10, "127.0.0.1");
  const std::string near = ranks.last_words(0), far = ranks.last_words(1);
  EXPECT_NE(near.find("rank 1"), std::string::npos) << near;
  EXPECT_NE(far.find("127.0.0.1:7777"), std::string::npos) << far;
  EXPECT_LT(base::seconds_since(start), 10.0);
}

}  // namespace
}  // namespace trireme::comm
