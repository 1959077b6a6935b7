// What others on this host and on the network can reach of a job, and what they can take from it.
#include <fcntl.h>
#include <fmt/format.h>
#include <sys/resource.h>

#include <chrono>
#include <deque>

#include "base/system/clock.h"
#include "comm/listeners.h"
#include "comm/processes.h"
#include "comm/transport/tcp/listener.h"

namespace trireme::comm {
namespace {

using namespace std::chrono_literals;

constexpr uid_t kNobody = 65534;

class Strangers : public testing::TestWithParam<std::string> {
 protected:
  JoinOptions options(int rank, int world) const {
    JoinOptions options = test_options(address_, rank, world);
    choose_transport(options, GetParam());
    return options;
  }
  Address address_ = free_address();
};

TEST_P(Strangers, OfOtherHostsReachNothingOfAJobOnOneHost) {
  const auto check = [](Group& group) {
    for (const std::string& address : listeners_beyond_loopback())
      throw std::runtime_error("somebody listens on " + address);
    add_up(group);
  };
  std::vector<Process> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.push_back(start(options(rank, 3), [&](Group& group) {
      check(group);
      if (group.rank() == 0) return;  // the next one holds the rendezvous of those who are left
      try {
        for (;;) add_up(group);
      } catch (const std::exception&) {
        group = regroup(std::move(group));
      }
      check(group);
    }));
  for (const Process& rank : ranks) EXPECT_EQ(last_words(rank), "ready\ndone");
}

// More than a process can have descriptors, and always new ones.
TEST_P(Strangers, LeaveAProcessItsDescriptors) {
  constexpr rlim_t kDescriptors = 256;
  constexpr std::size_t kStrangers = 600;
  constexpr int kFiles = 100, kTurns = 40;
  const auto allow_few = [&] {
    const rlimit few{kDescriptors, kDescriptors};
    setrlimit(RLIMIT_NOFILE, &few);
  };
  const auto open_files = [&](Group& group) {
    for (int turn = 0; turn < kTurns; ++turn) {
      add_up(group);
      std::vector<Socket> files;
      for (int i = 0; i < kFiles; ++i) {
        files.emplace_back(open("/dev/null", O_RDONLY | O_CLOEXEC));
        if (!files.back().is_open()) throw std::runtime_error(fmt::format("only {} files can be open", i));
      }
      std::this_thread::sleep_for(50ms);
    }
  };
  std::vector<Process> ranks;
  for (int rank = 0; rank < 3; ++rank) ranks.push_back(start(options(rank, 3), open_files, allow_few));
  std::atomic<bool> stop{false};
  std::thread crowd([&] {
    std::deque<Socket> strangers;
    while (!stop) {
      try {
        strangers.push_back(connect_to(address_, base::now_ns() + 100'000'000));
      } catch (const std::exception&) {  // nobody listens yet, or any more
      }
      if (strangers.size() > kStrangers) strangers.pop_front();
    }
  });
  for (const Process& rank : ranks) EXPECT_EQ(last_words(rank), "ready\ndone");
  stop = true;
  crowd.join();
}

INSTANTIATE_TEST_SUITE_P(Over, Strangers, testing::Values("shm", "tcp", "tls"),
                         [](const auto& one) { return one.param; });

// One that knows the token comes in at a local listener, unless it is another user's.
TEST(LocalListener, LetsNoOtherUserIn) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  for (const uid_t user : {uid_t{0}, kNobody}) {
    const Address address{fmt::format("@trireme-listener-{}-{}", getpid(), user), 0};
    Listener listener(listen_on(address), {"a token"});
    const pid_t guest = fork();
    if (guest == 0) {
      if (setresuid(user, user, user) != 0) _exit(3);
      try {
        enter(
            address, {"a token"}, [](const Socket&) { return std::string("hello"); }, "the listener",
            base::in_seconds(5));
      } catch (const std::exception&) {
        _exit(1);
      }
      _exit(0);
    }
    std::size_t guests = 0;
    int status = 0;
    for (const std::int64_t deadline = base::in_seconds(20);
         waitpid(guest, &status, WNOHANG) == 0 && base::now_ns() < deadline;) {
      guests += listener.accept_authenticated().size();
      std::this_thread::sleep_for(1ms);
    }
    guests += listener.accept_authenticated().size();
    EXPECT_EQ(guests, user == 0 ? 1U : 0U);
    EXPECT_EQ(WEXITSTATUS(status), user == 0 ? 0 : 1);
  }
}

// A listener of another user may be one that took a name which a job is about to use.
TEST(LocalListener, OfAnotherUserIsNotEntered) {
  if (geteuid() != 0) GTEST_SKIP() << "only root can act as another user";
  const Address address{fmt::format("@trireme-other-listener-{}", getpid()), 0};
  int ready[2];
  ASSERT_EQ(pipe(ready), 0);
  const pid_t host = fork();
  if (host == 0) {
    if (setresuid(kNobody, kNobody, kNobody) != 0) _exit(3);
    Listener listener(listen_on(address), {"a token"});
    if (write(ready[1], "x", 1) != 1) _exit(3);
    for (;;) {
      listener.accept_authenticated();
      std::this_thread::sleep_for(1ms);
    }
  }
  char mark = 0;
  EXPECT_EQ(read(ready[0], &mark, 1), 1);
  EXPECT_THROW(enter(
                   address, {"a token"}, [](const Socket&) { return std::string("hello"); }, "the listener",
                   base::in_seconds(5)),
               std::runtime_error);
  kill(host, SIGKILL);
  waitpid(host, nullptr, 0);
  close(ready[0]);
  close(ready[1]);
}

}  // namespace
}  // namespace trireme::comm
