// Two threads that play workers: the one that is ahead on a faster core changes places with the other.
#include "strategy/affinity/core_rotation.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <barrier>
#include <chrono>
#include <memory>
#include <thread>

#include "base/cpu/cores.h"
#include "base/system/clock.h"

namespace trireme::strategy {
namespace {

using namespace std::chrono_literals;

int pinned_to() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_COUNT(&mask) == 1 && CPU_ISSET(cpu, &mask)) return cpu;
  return -1;
}

struct PinnedThread {
  std::int64_t step = 7;
  double left = 1;  // of its step, after 10 ms
};

// Both do their first part, then the second one says how far it is, then the first one. Returns where they sit in the
// end. One may seem slower than it is, when the machine is busy; so what it did is much more, or less, than the other.
std::pair<int, int> play(const std::vector<int>& cpus, const PinnedThread& one, const PinnedThread& two) {
  const auto memory = std::make_unique<CoreSlot[]>(2);
  const std::vector<CoreSlot*> slots{&memory[0], &memory[1]};
  std::barrier barrier(2);
  std::pair<int, int> end;
  const auto run = [&](std::size_t own, const PinnedThread& pinned, int& cpu) {
    base::pin_this_thread(cpus[own]);
    CoreRotation swap(slots, own, cpus[own]);
    swap.begin(pinned.step);
    std::this_thread::sleep_for(5ms);
    barrier.arrive_and_wait();
    swap.look(1);
    std::this_thread::sleep_for(10ms);
    if (own == 0) barrier.arrive_and_wait();
    swap.look(pinned.left);
    if (own == 1) barrier.arrive_and_wait();
    barrier.arrive_and_wait();
    // The swapper may not have moved the other one yet.
    for (int turn = 0; turn < 100 && pinned_to() != memory[own].cpu; ++turn) std::this_thread::sleep_for(10ms);
    cpu = pinned_to();
    barrier.arrive_and_wait();
  };
  std::thread first([&] { run(0, one, end.first); });
  std::thread second([&] { run(1, two, end.second); });
  first.join();
  second.join();
  return end;
}

class CoreSwapTest : public testing::Test {
 protected:
  void SetUp() override {
    cpus_ = base::plan_cores().cpus;
    if (cpus_.size() < 2) GTEST_SKIP() << "this machine has one core";
  }
  std::vector<int> cpus_;
};

TEST_F(CoreSwapTest, OneThatIsFarAheadChangesPlacesWithTheSlowOne) {
  EXPECT_EQ(play(cpus_, {7, 0.2}, {7, 0.9}), std::pair(cpus_[1], cpus_[0]));
}

TEST_F(CoreSwapTest, SoDoesOneThatIsDone) { EXPECT_EQ(play(cpus_, {7, 0.0}, {7, 0.9}), std::pair(cpus_[1], cpus_[0])); }

TEST_F(CoreSwapTest, ASlowOneTakesThePlaceOfOneThatIsDone) {
  EXPECT_EQ(play(cpus_, {7, 0.9}, {7, 0.0}), std::pair(cpus_[1], cpus_[0]));
}

TEST_F(CoreSwapTest, OthersStayWhereTheyAre) {
  const std::pair stay(cpus_[0], cpus_[1]);
  EXPECT_EQ(play(cpus_, {7, 0.001}, {7, 0.0}), stay) << "it will be done soon as well";
  EXPECT_EQ(play(cpus_, {7, 0.2}, {6, 0.9}), stay) << "the other is in another step";
  EXPECT_EQ(play(cpus_, {7, 0.2}, {7, 0.999}), stay) << "the other's speed is not known";
  EXPECT_EQ(play(cpus_, {7, 0.9}, {7, 0.2}), stay) << "the other is ahead, and will say so when it looks";
}

// What one that is in the middle of a piece has done since it looked counts.
TEST_F(CoreSwapTest, OneThatHasNotLookedForLongIsNotTakenToBeBehind) {
  const auto memory = std::make_unique<CoreSlot[]>(2);
  base::pin_this_thread(cpus_[0]);
  CoreRotation swap({&memory[0], &memory[1]}, 0, cpus_[0]);
  swap.begin(7);
  std::this_thread::sleep_for(1ms);
  swap.look(1);
  std::this_thread::sleep_for(10ms);
  swap.look(0.5);
  ASSERT_GT(memory[0].speed, 1);
  memory[1].step = 7;
  memory[1].cpu = cpus_[1];
  memory[1].thread = base::this_thread();
  memory[1].package = memory[0].package.load();
  memory[1].speed = memory[0].speed / 2;
  memory[1].left = 900'000;
  // At its speed it has needed as long as it takes to be as far.
  memory[1].reported_ns = base::now_ns() - 900'000 * std::int64_t{1'000'000} / memory[1].speed;
  swap.look(0.49);
  std::this_thread::sleep_for(1ms);
  swap.look(0.48);
  EXPECT_EQ(memory[0].cpu, cpus_[0]);
  base::unpin_this_thread(cpus_);
}

}  // namespace
}  // namespace trireme::strategy
