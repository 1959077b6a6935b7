// ThreadTeam: everybody runs, everybody is done, and what goes wrong is told.
#include "base/cpu/thread_team.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <cfloat>
#include <set>
#include <stdexcept>
#include <string>

namespace trireme::base {
namespace {

TEST(ThreadTeam, EveryMemberRunsOnceARound) {
  for (const bool may_spin : {false, true})
    for (int members = 1; members <= 5; ++members) {
      ThreadTeam team(members, {}, may_spin);
      ASSERT_EQ(team.members(), members);
      std::vector<int> calls(static_cast<std::size_t>(members), 0);  // written without locks: the meeting orders them
      const int rounds = may_spin ? 300 : 1000;
      for (int round = 0; round < rounds; ++round) {
        team.run([&](int member) { ++calls[static_cast<std::size_t>(member)]; });
        for (const int count : calls) ASSERT_EQ(count, round + 1);
      }
    }
}

TEST(ThreadTeam, TheCallerIsMemberZero) {
  ThreadTeam team(3, {}, false);
  const auto caller = std::this_thread::get_id();
  std::vector<std::thread::id> ids(3);
  team.run([&](int member) { ids[static_cast<std::size_t>(member)] = std::this_thread::get_id(); });
  EXPECT_EQ(ids[0], caller);
  EXPECT_EQ(std::set<std::thread::id>(ids.begin(), ids.end()).size(), 3u);
  const std::vector<std::thread::id> before = ids;
  team.run([&](int member) { ids[static_cast<std::size_t>(member)] = std::this_thread::get_id(); });
  EXPECT_EQ(ids, before) << "members keep their threads";
}

TEST(ThreadTeam, ExceptionsReachTheCallerAndTheTeamGoesOn) {
  for (int members = 1; members <= 4; ++members) {
    ThreadTeam team(members, {}, false);
    for (int thrower = 0; thrower < members; ++thrower) {
      std::atomic<int> ran{0};
      try {
        team.run([&](int member) {
          ++ran;
          if (member == thrower) throw std::runtime_error("member " + std::to_string(member));
        });
        FAIL() << "nothing was thrown";
      } catch (const std::runtime_error& error) {
        EXPECT_EQ(std::string(error.what()), "member " + std::to_string(thrower));
      }
      EXPECT_EQ(ran, members) << "all finish the round";
    }
    std::atomic<int> ran{0};
    EXPECT_NO_THROW(team.run([&](int) { ++ran; }));
    EXPECT_EQ(ran, members);
    EXPECT_THROW(team.run([](int) { throw std::runtime_error("all"); }), std::runtime_error);
    EXPECT_NO_THROW(team.run([](int) {})) << "an old failure is not told twice";
  }
}

TEST(ThreadTeam, UnevenMembersAreWaitedFor) {
  ThreadTeam team(3, {}, false);
  for (int round = 0; round < 20; ++round) {
    std::atomic<int> done{0};
    team.run([&](int member) {
      if (member == round % 3) std::this_thread::sleep_for(std::chrono::milliseconds(2));
      ++done;
    });
    ASSERT_EQ(done, 3);
  }
}

TEST(ThreadTeam, MembersFlushDenormals) {
  ThreadTeam team(3, {}, false);
  std::vector<float> halves(3, 1.0f);
  team.run([&](int member) {
    volatile float small = FLT_MIN;
    halves[static_cast<std::size_t>(member)] = small * 0.5f;
  });
  EXPECT_EQ(halves, std::vector<float>(3, 0.0f));
}

TEST(ThreadTeam, PinsAndLetsGo) {
  cpu_set_t before, during, after;
  sched_getaffinity(0, sizeof before, &before);
  std::vector<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &before)) cpus.push_back(cpu);
  if (cpus.size() < 2) GTEST_SKIP() << "one cpu only";
  {
    ThreadTeam team(2, cpus, false);
    std::vector<int> where(2, -1);
    team.run([&](int member) {
      cpu_set_t own;
      sched_getaffinity(0, sizeof own, &own);
      where[static_cast<std::size_t>(member)] = CPU_COUNT(&own) == 1 ? sched_getcpu() : -2;
    });
    EXPECT_EQ(where, (std::vector<int>{cpus[0], cpus[1]}));
  }
  sched_getaffinity(0, sizeof after, &after);
  EXPECT_TRUE(CPU_EQUAL(&before, &after));
  {
    const ThreadTeam crowded(static_cast<int>(cpus.size()) + 1, cpus,
                             false);  // more members than cpus: nobody is pinned
    sched_getaffinity(0, sizeof during, &during);
    EXPECT_TRUE(CPU_EQUAL(&before, &during));
  }
}

TEST(ThreadTeam, ComesAndGoes) {
  for (int round = 0; round < 50; ++round) {
    ThreadTeam team(4, {}, round % 2 == 0);
    if (round % 3 == 0) team.run([](int) {});
  }
}

}  // namespace
}  // namespace trireme::base
