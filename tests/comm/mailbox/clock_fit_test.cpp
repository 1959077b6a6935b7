// Clocks that differ and drift, and the bound of the error that remains.
#include "comm/mailbox/clock_fit.h"

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <limits>

#include "base/system/clock.h"
#include "comm/worlds.h"

namespace trireme::comm {
namespace {

constexpr std::int64_t kMs = 1'000'000, kS = 1000 * kMs;

// A clock that was `ahead_ns` ahead at time 0 and runs `drift` too fast.
std::int64_t skewed(std::int64_t true_ns, std::int64_t ahead_ns, double drift) {
  return true_ns + ahead_ns + static_cast<std::int64_t>(drift * static_cast<double>(true_ns));
}

TEST(ClockFit, KnowsNothingBeforeTheFirstExchange) {
  const base::ClockModel model = ClockFit().at(7);
  EXPECT_LT(model.bound_ns, 0);
  EXPECT_EQ(model.common_ns(7), 7);
}

TEST(ClockFit, OneExchangeBoundsByHalfItsRoundTrip) {
  ClockFit fit;
  fit.add({1000, 500, 1200});
  const base::ClockModel model = fit.at(1200);
  EXPECT_EQ(model.common_ns(1100), 500);
  EXPECT_GE(model.bound_ns, 100);
  fit.add({2000, 1, 1900});  // nonsense
  EXPECT_EQ(fit.at(1200).ahead_ns, model.ahead_ns);
}

// Ways of random and unequal length; now and then a long delay. The error is within the bound at every moment, and the
// bound becomes small.
TEST(ClockFit, FollowsDriftingClocks) {
  for (const std::int64_t ahead : {-1 * kS, std::int64_t{0}, 1 * kS})
    for (const double drift : {-200e-6, 0.0, 200e-6}) {
      ClockFit fit;
      std::uint64_t seed = 1;
      const auto random = [&](std::int64_t below) {
        seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
        return static_cast<std::int64_t>((seed >> 33) % static_cast<std::uint64_t>(below));
      };
      std::int64_t worst_bound = 0;
      for (std::int64_t time = 5 * kS; time < 100 * kS; time += 250 * kMs) {
        const std::int64_t there = 20'000 + random(40'000) + (random(10) == 0 ? 5 * kMs : 0),
                           back = 20'000 + random(40'000) + (random(10) == 0 ? 7 * kMs : 0);
        fit.add({skewed(time, ahead, drift), time + there, skewed(time + there + back, ahead, drift)});
        for (const std::int64_t later : {100 * kMs, 249 * kMs}) {
          const std::int64_t moment = time + there + back + later, own = skewed(moment, ahead, drift);
          const base::ClockModel model = fit.at(own);
          ASSERT_LE(std::abs(model.common_ns(own) - moment), model.bound_ns) << "at " << moment;
          if (time > 10 * kS) worst_bound = std::max(worst_bound, model.bound_ns);
        }
      }
      EXPECT_LE(worst_bound, 200'000);
      EXPECT_NEAR(fit.at(skewed(100 * kS, ahead, drift)).drift, drift, 5e-6);
    }
}

// A clock that is slewed by 100 ppm from some moment on.
TEST(ClockFit, FollowsAClockWhoseSpeedChanges) {
  ClockFit fit;
  const auto own_clock = [](std::int64_t time) {
    return time + static_cast<std::int64_t>(1e-4 * static_cast<double>(std::max<std::int64_t>(0, time - 40 * kS)));
  };
  for (std::int64_t time = 0; time < 120 * kS; time += 500 * kMs) {
    fit.add({own_clock(time), time + 30'000, own_clock(time + 60'000)});
    const std::int64_t moment = time + 300 * kMs;
    const base::ClockModel model = fit.at(own_clock(moment));
    EXPECT_LE(std::abs(model.common_ns(own_clock(moment)) - moment), model.bound_ns + 100'000) << time;
  }
  const std::int64_t moment = 120 * kS;
  EXPECT_LE(std::abs(fit.at(own_clock(moment)).common_ns(own_clock(moment)) - moment), 31'000);
}

// Three workers and a server whose clocks are a second apart and drift by 200 ppm.
TEST(GroupClocks, AreComparedAllTheTime) {
  const std::vector<std::int64_t> ahead{0, kS, -kS, kS / 2};
  const std::vector<double> drift{0, 200e-6, -200e-6, 100e-6};
  const std::int64_t start = base::now_ns();
  const auto clock_of_rank = [&](int rank) {
    return Clock([=] {
      return start + skewed(base::now_ns() - start, ahead[static_cast<std::size_t>(rank)],
                            drift[static_cast<std::size_t>(rank)]);
    });
  };
  const Address address = free_address();
  std::vector<std::thread> threads;
  for (int rank = 0; rank < 4; ++rank)
    threads.emplace_back([&, rank] {
      JoinOptions options = test_options(address, rank, 4);
      options.clock = clock_of_rank(rank);
      Group group = join(options);
      const std::int64_t until = base::in_seconds(3.5);
      std::int64_t best_bound = std::numeric_limits<std::int64_t>::max();
      while (base::now_ns() < until) {
        std::this_thread::sleep_for(std::chrono::milliseconds(20));
        const std::int64_t own = options.clock(), common = base::now_ns();
        const std::int64_t took = options.clock() - own;
        const base::ClockModel model = *clock_of(group);
        if (model.bound_ns < 0) continue;
        EXPECT_LE(std::abs(model.common_ns(own) - common), model.bound_ns + took) << "rank " << rank;
        best_bound = std::min(best_bound, model.bound_ns);
      }
      EXPECT_LT(best_bound, 1000 * kMs) << "there were exchanges";
      std::printf("rank %d: bound %.1f us\n", rank, 1e-3 * static_cast<double>(best_bound));
      group.barrier();
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace trireme::comm
