// Ranks as real processes that are killed, stopped or leave in the middle of collectives: every survivor names the
// rank, in bounded time.
#include <fmt/format.h>
#include <signal.h>

#include <chrono>

#include "base/error.h"
#include "base/system/clock.h"
#include "comm/processes.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

struct SurvivorReport {
  std::string words;
  double seconds = 0;  // after the blow
};

// All-reduces without end.
void work(Group& group, std::size_t count) {
  std::vector<float> data(count, 1.0f);
  for (;;) group.all_reduce(data, Reduction::max);
}

// Starts `world` ranks that do `body`, sends a signal to one of them, and hears what the others say.
std::vector<SurvivorReport> strike(const std::string& transport, int world, int victim, int signal,
                                   double silent_seconds, const std::function<void(Group&)>& body) {
  const Address address = free_address();
  std::vector<Process> ranks;
  for (int rank = 0; rank < world; ++rank) {
    JoinOptions options = test_options(address, rank, world);
    choose_transport(options, transport);
    options.patience.silent_seconds = silent_seconds;
    ranks.push_back(start(options, body));
  }
  for (const Process& rank : ranks) EXPECT_EQ(read_until(rank.words, '\n'), "ready");
  std::this_thread::sleep_for(100ms);
  const std::int64_t blow = base::now_ns();
  kill(ranks[static_cast<std::size_t>(victim)].number, signal);
  std::vector<SurvivorReport> endings(static_cast<std::size_t>(world));
  std::vector<std::thread> readers;
  for (int rank = 0; rank < world; ++rank)
    if (rank != victim)
      readers.emplace_back([&, rank] {
        SurvivorReport& ending = endings[static_cast<std::size_t>(rank)];
        ending.words = read_until(ranks[static_cast<std::size_t>(rank)].words, '\0');
        ending.seconds = base::seconds_since(blow);
      });
  for (std::thread& reader : readers) reader.join();
  for (const Process& rank : ranks) {
    kill(rank.number, SIGKILL);
    waitpid(rank.number, nullptr, 0);
    close(rank.words);
  }
  return endings;
}

class Death : public testing::TestWithParam<std::tuple<std::string, int>> {
 protected:
  std::string transport() const { return std::get<0>(GetParam()); }
  int victim() const { return std::get<1>(GetParam()); }
  void expect_named(const std::vector<SurvivorReport>& endings, double seconds) const {
    for (int rank = 0; rank < static_cast<int>(endings.size()); ++rank) {
      if (rank == victim()) continue;
      const SurvivorReport& ending = endings[static_cast<std::size_t>(rank)];
      const std::string own = "rank " + std::to_string(rank) + ", all-reduce ";
      const std::string name = "rank " + std::to_string(victim()) + " (process ";
      EXPECT_TRUE(ending.words.starts_with(own)) << ending.words;
      EXPECT_NE(ending.words.find(name), std::string::npos) << ending.words;
      EXPECT_LT(ending.seconds, seconds) << ending.words;
    }
  }
};

TEST_P(Death, AKilledRankIsNamedWithinASecond) {
  for (const std::size_t count : {1, 300000})
    expect_named(strike(transport(), 3, victim(), SIGKILL, 10, [&](Group& group) { work(group, count); }), 1.0);
}

TEST_P(Death, AStoppedRankIsNamedWithinThePatience) {
  expect_named(strike(transport(), 3, victim(), SIGSTOP, 1.0, [](Group& group) { work(group, 1000); }), 2.0);
}

// What a launcher saw outranks a closed connection; without its word the connection counts after a while.
TEST(Launcher, KnowsBetterHowARankEnded) {
  for (const bool tells : {true, false}) {
    JoinOptions options = test_options(free_address(), 0, 3);
    options.patience.ending_seconds = 0.4;
    std::vector<Process> ranks;
    for (options.rank = 0; options.rank < 3; ++options.rank)
      ranks.push_back(start(options, [](Group& group) { work(group, 1000); }));
    for (const Process& rank : ranks) EXPECT_EQ(read_until(rank.words, '\n'), "ready");
    kill(ranks[1].number, SIGKILL);
    waitpid(ranks[1].number, nullptr, 0);
    const std::int64_t blow = base::now_ns();
    if (tells) report_exit(options, ranks[1].number, "was killed by signal 9");
    for (const int rank : {0, 2}) {
      const std::string words = last_words(ranks[static_cast<std::size_t>(rank)]);
      EXPECT_NE(words.find(fmt::format("rank 1 (process {} on ", ranks[1].number)), std::string::npos) << words;
      EXPECT_NE(words.find(tells ? ") was killed by signal 9" : ") is gone"), std::string::npos) << words;
    }
    EXPECT_LT(base::seconds_since(blow), 1.0);
    close(ranks[1].words);
  }
}

// Who has come need not wait for one of whom the launcher knows that it never will.
TEST(Launcher, TellsOfARankThatEndedBeforeAllWereThere) {
  JoinOptions options = test_options(free_address(), 0, 3);
  std::vector<Process> ranks;
  for (options.rank = 0; options.rank < 2; ++options.rank)
    ranks.push_back(start(options, [](Group& group) { work(group, 1000); }));
  std::this_thread::sleep_for(300ms);          // both come; one that comes when rank 0 has gone finds nobody
  for (bool is_told = false; !is_told;) try {  // until rank 0 has opened the rendezvous
      report_exit(options, 4711, "was killed by signal 9");
      is_told = true;
    } catch (const base::Error&) {
      std::this_thread::sleep_for(10ms);
    }
  for (const Process& rank : ranks) {
    const std::string words = last_words(rank);
    EXPECT_NE(words.find("(process 4711 on "), std::string::npos) << words;
    EXPECT_NE(words.find("was killed by signal 9 before all 3 were there"), std::string::npos) << words;
  }
}

// Those who are left form a group again and go on; their ranks keep their order.
TEST_P(Death, SurvivorsFormAGroupAgain) {
  for (const int signal : {SIGKILL, SIGSTOP}) {
    const auto endings = strike(transport(), 4, victim(), signal, 1.0, [](Group& group) {
      const int before = group.rank();
      try {
        work(group, 1000);
      } catch (const std::exception&) {
        group = regroup(group);
      }
      std::vector<float> data(100000, static_cast<float>(before));
      group.all_reduce(data, Reduction::sum);
      throw std::runtime_error(fmt::format("rank {} of {}, sum {}", group.rank(), group.world(), data[99999]));
    });
    int next = 0;
    for (int rank = 0; rank < 4; ++rank)
      if (rank != victim()) {
        EXPECT_EQ(endings[static_cast<std::size_t>(rank)].words,
                  fmt::format("rank {} of 3, sum {}", next++, 6 - victim()))
            << "once rank " << rank << ", signal " << signal;
      }
  }
}

// Two ranks are killed a moment apart, in any phase of the survivors' finding together.
TEST_P(Death, SurvivorsFormAGroupAgainThoughAnotherDies) {
  const int first = victim() == 0 ? 4 : victim();  // rank 0 stays
  for (const int delay_ms : {0, 5, 20, 60, 200}) {
    const Address address = free_address();
    std::vector<Process> ranks;
    for (int rank = 0; rank < 5; ++rank) {
      JoinOptions options = test_options(address, rank, 5);
      choose_transport(options, transport());
      ranks.push_back(start(options, [](Group& group) {
        const int before = group.rank();
        for (int losses = 0; group.world() > 3;) try {
            work(group, 1000);
          } catch (const std::exception&) {
            if (++losses > 2) throw;
            group = regroup(group);
          }
        for (;;) try {
            std::vector<float> data(100000, static_cast<float>(before));
            group.all_reduce(data, Reduction::sum);
            throw std::runtime_error(fmt::format("rank {} of {}, sum {}", group.rank(), group.world(), data[99999]));
          } catch (const base::Error&) {
            group = regroup(group);
          }
      }));
    }
    for (const Process& rank : ranks) EXPECT_EQ(read_until(rank.words, '\n'), "ready");
    kill(ranks[static_cast<std::size_t>(first)].number, SIGKILL);
    std::this_thread::sleep_for(std::chrono::milliseconds(delay_ms));
    kill(ranks[3].number, SIGKILL);
    int next = 0;
    for (int rank = 0; rank < 5; ++rank) {
      const std::string words = last_words(ranks[static_cast<std::size_t>(rank)]);
      if (rank == first || rank == 3) continue;
      EXPECT_EQ(words, fmt::format("rank {} of 3, sum {}", next++, 10 - 3 - first))
          << "once rank " << rank << ", " << delay_ms << " ms";
    }
  }
}

// The others learn it from rank 0, whatever they were given.
TEST(FailureTimeouts, IsRankZeros) {
  const Address address = free_address();
  std::vector<Process> ranks;
  for (int rank = 0; rank < 3; ++rank) {
    JoinOptions options = test_options(address, rank, 3);
    options.patience.silent_seconds = rank == 0 ? 1 : 1000;
    ranks.push_back(start(options, [](Group& group) { work(group, 1000); }));
  }
  for (const Process& rank : ranks) EXPECT_EQ(read_until(rank.words, '\n'), "ready");
  kill(ranks[0].number, SIGSTOP);
  const std::int64_t blow = base::now_ns();
  for (const int rank : {1, 2}) {
    const std::string words = last_words(ranks[static_cast<std::size_t>(rank)]);
    EXPECT_NE(words.find(kHoldsGroup), std::string::npos) << words;
    EXPECT_NE(words.find("has been silent for 1."), std::string::npos) << words;
  }
  EXPECT_LT(base::seconds_since(blow), kTestDeadline / 2);
  kill(ranks[0].number, SIGKILL);
  waitpid(ranks[0].number, nullptr, 0);
}

// At the end of a job of many processes rank 0 leaves first, and with it the arbiter. Whoever sends something
// afterwards finds many peers gone, and waits for a verdict about none of them.
TEST(Leaving, NobodyWaitsForVerdictsThatCannotCome) {
  constexpr int kWorld = 10;
  const Address address = free_address();
  std::vector<Process> ranks;
  for (int rank = 0; rank < kWorld; ++rank) {
    JoinOptions options = test_options(address, rank, kWorld);
    choose_transport(options, "tcp");
    ranks.push_back(start(options, [](Group& group) {
      if (group.rank() == 0) return;
      std::byte none{};
      try {  // until it has left
        group.mailbox().receive(0, 1, std::span(&none, 1));
      } catch (const base::Error&) {
      }
      std::this_thread::sleep_for(300ms);
      if (group.rank() + 1 < kWorld) ::raise(SIGKILL);
      std::this_thread::sleep_for(500ms);
      const std::int64_t begin = base::now_ns();
      try {
        group.mailbox().send(1, 1, std::span(&none, 1));
      } catch (const base::Error&) {
      }
      if (const double seconds = base::seconds_since(begin); seconds > 2)
        throw std::runtime_error(fmt::format("it took {:.1f} s", seconds));
    }));
  }
  EXPECT_EQ(last_words(ranks[0]), "ready\ndone");
  EXPECT_EQ(last_words(ranks[kWorld - 1]), "ready\ndone");
  for (int rank = 1; rank + 1 < kWorld; ++rank) last_words(ranks[static_cast<std::size_t>(rank)]);
}

INSTANTIATE_TEST_SUITE_P(Over, Death, testing::Combine(testing::Values("shm", "tcp", "tls"), testing::Values(0, 1, 2)),
                         [](const auto& one) {
                           return std::get<0>(one.param) + "_rank" + std::to_string(std::get<1>(one.param));
                         });

}  // namespace
}  // namespace trireme::comm
