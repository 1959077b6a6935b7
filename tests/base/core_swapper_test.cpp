// CoreSwapper: two threads change cores while both run.
#include "base/cpu/core_swapper.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <atomic>
#include <chrono>
#include <thread>
#include <vector>

#include "base/cpu/cores.h"

namespace trireme::base {
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

// Two threads that run all the time sit on each other's core again and again.
TEST(CoreSwapper, MovesThreadsThatRun) {
  const std::vector<int> cpus = plan_cores().cpus;
  if (cpus.size() < 2) GTEST_SKIP() << "this machine has one core";
  std::atomic<std::int32_t> number = 0;
  std::atomic<bool> ends = false;
  std::thread other([&] {
    pin_this_thread(cpus[1]);
    number = this_thread();
    while (!ends) continue;
  });
  while (number == 0) std::this_thread::yield();
  pin_this_thread(cpus[0]);
  CoreSwapper swapper;
  for (int turn = 0; turn < 200; ++turn) {
    const int here = cpus[static_cast<std::size_t>(turn % 2)], there = cpus[static_cast<std::size_t>(1 - turn % 2)];
    swapper.change_cores(here, number, there);
    for (int wait = 0; wait < 100 && pinned_to() != there; ++wait) std::this_thread::sleep_for(1ms);
    ASSERT_EQ(pinned_to(), there) << turn;
    cpu_set_t mask;
    CPU_ZERO(&mask);
    for (int wait = 0; wait < 1000 && CPU_COUNT(&mask) != 1; ++wait) {
      sched_getaffinity(number, sizeof mask, &mask);
      if (CPU_ISSET(here, &mask)) break;
      CPU_ZERO(&mask);
      std::this_thread::sleep_for(1ms);
    }
    ASSERT_TRUE(CPU_ISSET(here, &mask)) << turn;
  }
  ends = true;
  other.join();
  unpin_this_thread(cpus);
}

}  // namespace
}  // namespace trireme::base
