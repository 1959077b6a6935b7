// Joining: who belongs together finds each other in any order, and who does not is told why.
#include <chrono>

#include "base/system/clock.h"
#include "comm/transport/tcp/listener.h"
#include "comm/worlds.h"
#include "support/core_errors.h"

namespace trireme::comm {
namespace {

using support::contains;

using namespace std::chrono_literals;

// The errors of ranks that join with options changed by `change`.
std::vector<std::string> join_all(int world, const std::function<void(JoinOptions&)>& change) {
  const Address address = free_address();
  std::vector<std::string> errors(static_cast<std::size_t>(world));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < world; ++rank)
    threads.emplace_back([&, rank] {
      JoinOptions options = test_options(address, rank, world);
      options.join_seconds = 2;
      change(options);
      try {
        Group group = join(options);
        group.barrier();
      } catch (const std::exception& error) {
        errors[static_cast<std::size_t>(rank)] = error.what();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return errors;
}

TEST(Join, InAnyOrder) {
  for (const int last : {0, 1, 2}) {
    const auto errors = join_all(3, [&](JoinOptions& options) {
      if (options.rank == last) std::this_thread::sleep_for(150ms);
    });
    for (const std::string& error : errors) EXPECT_EQ(error, "");
  }
}

TEST(Join, OfOne) {
  for (const std::string& error : join_all(1, [](JoinOptions&) {})) EXPECT_EQ(error, "");
}

TEST(Join, AWrongTokenIsRefused) {
  const auto errors = join_all(2, [](JoinOptions& options) {
    if (options.rank == 1) options.token = "another token";
  });
  EXPECT_TRUE(contains(errors[1], "token")) << errors[1];
  EXPECT_TRUE(contains(errors[0], "rank 1 of 2 did not come")) << errors[0];
}

TEST(Join, AnotherWorldIsRefused) {
  const auto errors = join_all(2, [](JoinOptions& options) {
    if (options.rank == 1) options.world = 3;
  });
  EXPECT_TRUE(contains(errors[1], "was started for 3 ranks, rank 0 for 2")) << errors[1];
}

TEST(Join, AnotherProgramIsRefused) {
  const auto errors = join_all(2, [](JoinOptions& options) {
    if (options.rank == 1) options.program = "trireme 9.9";
  });
  EXPECT_TRUE(contains(errors[1], "runs 'trireme 9.9', rank 0 runs 'trireme'")) << errors[1];
}

TEST(Join, ASecondOfOneRankIsRefused) {
  const auto errors = join_all(3, [](JoinOptions& options) {
    if (options.rank == 2) {
      std::this_thread::sleep_for(100ms);
      options.rank = 1;
    }
  });
  EXPECT_TRUE(contains(errors[2], "rank 1") && contains(errors[2], "is there already")) << errors[2];
}

TEST(Join, APortInUseIsNamed) {
  const Socket taken = listen_on({"127.0.0.1", 0});
  try {
    join(test_options({"127.0.0.1", port_of(taken)}, 0, 2));
    FAIL() << "joined at a port of another";
  } catch (const std::exception& error) {
    EXPECT_TRUE(contains(error.what(), "cannot listen on 127.0.0.1:") &&
                contains(error.what(), "another program has this port"))
        << error.what();
  }
}

TEST(Join, AnUnknownHostIsNamed) {
  try {
    join(test_options({"no-such-host.invalid", 4000}, 1, 2));
    FAIL() << "joined at no host";
  } catch (const std::exception& error) {
    EXPECT_TRUE(contains(error.what(), "no-such-host.invalid") && contains(error.what(), "cannot be found"))
        << error.what();
  }
}

TEST(Join, NobodyThereEndsAtTheDeadline) {
  JoinOptions options = test_options(free_address(), 1, 2);
  options.join_seconds = 0.3;
  const std::int64_t start = base::now_ns();
  EXPECT_THROW(join(options), std::runtime_error);
  EXPECT_LT(base::seconds_since(start), 5);
}

// What strangers send has no effect on those who join meanwhile.
TEST(Join, StrangersDoNoHarm) {
  const Address address = free_address();
  std::atomic<bool> stop{false};
  std::thread stranger([&] {
    std::vector<Socket> open;
    for (int turn = 0; !stop; ++turn) {
      try {
        Socket socket = connect_to(address, base::now_ns() + 100'000'000);
        const std::vector<std::byte> garbage(static_cast<std::size_t>(turn % 3 * 100), std::byte{0xa5});
        send_all(socket, garbage, base::now_ns() + 100'000'000);
        if (turn % 2 == 0 && open.size() < 50) open.push_back(std::move(socket));  // half-open
      } catch (const std::exception&) {                                            // nobody there yet, or refused
      }
      std::this_thread::sleep_for(2ms);
    }
  });
  std::this_thread::sleep_for(20ms);
  std::vector<std::thread> ranks;
  for (int rank = 0; rank < 3; ++rank)
    ranks.emplace_back([&, rank] {
      try {
        std::this_thread::sleep_for(rank * 50ms);
        Group group = join(test_options(address, rank, 3));
        std::vector<float> data(10, 1.0f);
        group.all_reduce(data, Reduction::sum);
        EXPECT_EQ(data[9], 3.0f);
      } catch (const std::exception& error) {
        ADD_FAILURE() << "rank " << rank << ": " << error.what();
      }
    });
  for (std::thread& rank : ranks) rank.join();
  stop = true;
  stranger.join();
}

// A proof recorded from one connection is worth nothing on the next.
TEST(Join, AReplayedHandshakeIsRefused) {
  Listener listener(listen_on({"127.0.0.1", 0}), {"a token"});
  const Address address{"127.0.0.1", port_of(listener.listener())};
  const std::int64_t deadline = base::now_ns() + 5'000'000'000;
  const HostHandshake other({"a token"});  // of an earlier connection of the same job
  const auto recorded = GuestHandshake({"a token"}).proof(other.greeting());
  std::array<std::byte, kGreetingBytes> greeting{};
  const Socket socket = connect_to(address, deadline);
  EXPECT_TRUE(listener.accept_authenticated().empty());
  receive_all(socket, greeting, deadline);
  send_all(socket, recorded.value(), deadline);
  for (int turn = 0; turn < 20; ++turn) {
    EXPECT_TRUE(listener.accept_authenticated().empty());
    std::this_thread::sleep_for(5ms);
  }
  std::array<std::byte, 1> answer{};
  EXPECT_THROW(receive_all(socket, answer, deadline), std::runtime_error);
}

}  // namespace
}  // namespace trireme::comm
