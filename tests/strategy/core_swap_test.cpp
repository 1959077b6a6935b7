// Two threads that play workers: the one that is ahead on a faster core takes the other's place.
#include "strategy/core_swap.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <barrier>
#include <chrono>
#include <memory>
#include <thread>

#include "base/cores.h"

namespace trireme::strategy {
namespace {

int pinned_to() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  sched_getaffinity(0, sizeof mask, &mask);
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_COUNT(&mask) == 1 && CPU_ISSET(cpu, &mask)) return cpu;
  return -1;
}

// Both say three times, in turns, how much of their step is left; the second begins. Returns where they sit in the end.
// One may seem slower than it is, when the machine is busy; so what it did is much more, or less, than the other.
std::pair<int, int> play(const std::vector<int>& cpus, std::int64_t other_step, double first_left, double second_left) {
  const auto memory = std::make_unique<CoreSeat[]>(2);
  const std::vector<CoreSeat*> seats{&memory[0], &memory[1]};
  std::barrier meeting(2);
  std::pair<int, int> end;
  const auto pause = [] { std::this_thread::sleep_for(std::chrono::milliseconds(5)); };
  std::thread second([&] {
    base::pin_this_thread(cpus[1]);
    CoreSwap swap(seats, 1, cpus[1]);
    swap.begin(other_step);
    pause();
    meeting.arrive_and_wait();
    swap.look(1);
    for (int turn = 0; turn < 3; ++turn) {
      pause();
      swap.look(second_left);
      meeting.arrive_and_wait();
      meeting.arrive_and_wait();
    }
    end.second = pinned_to();
  });
  std::thread first([&] {
    base::pin_this_thread(cpus[0]);
    CoreSwap swap(seats, 0, cpus[0]);
    swap.begin(7);
    pause();
    meeting.arrive_and_wait();
    swap.look(1);
    for (int turn = 0; turn < 3; ++turn) {
      meeting.arrive_and_wait();
      swap.look(first_left);
      meeting.arrive_and_wait();
    }
    end.first = pinned_to();
  });
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
  const std::pair changed(cpus_[1], cpus_[0]);
  EXPECT_EQ(play(cpus_, 7, 0.2, 0.95), changed);
  EXPECT_EQ(play(cpus_, 7, 0.95, 0.2), changed);
}

TEST_F(CoreSwapTest, ASlowOneTakesThePlaceOfOneThatIsDone) {
  const std::pair changed(cpus_[1], cpus_[0]);
  EXPECT_EQ(play(cpus_, 7, 0.9, 0.0), changed);
  EXPECT_EQ(play(cpus_, 7, 0.0, 0.95), changed);
  EXPECT_EQ(play(cpus_, 7, 0.002, 0.0), std::pair(cpus_[0], cpus_[1])) << "it will be done soon as well";
}

TEST_F(CoreSwapTest, OthersStayWhereTheyAre) {
  const std::pair stay(cpus_[0], cpus_[1]);
  EXPECT_EQ(play(cpus_, 7, 0.500, 0.505), stay) << "both are as fast";
  EXPECT_EQ(play(cpus_, 6, 0.2, 0.95), stay) << "the other is in another step";
  EXPECT_EQ(play(cpus_, 7, 0.2, 0.999), stay) << "the other's speed is not known";
}

TEST_F(CoreSwapTest, AnOfferThatWasNotTakenEndsWithTheStep) {
  const auto memory = std::make_unique<CoreSeat[]>(2);
  CoreSwap swap({&memory[0], &memory[1]}, 0, cpus_[0]);
  memory[0].offer = 2;
  swap.begin(8);
  EXPECT_EQ(memory[0].offer, 0);
}

}  // namespace
}  // namespace trireme::strategy
