// Cores: the plan holds the cpus this process may use and no others; pinning holds the thread where it should be.
#include "base/cpu/cores.h"

#include <gtest/gtest.h>
#include <sched.h>

#include <set>
#include <thread>

namespace trireme::base {
namespace {

std::set<int> mask_of_this_thread() {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  EXPECT_EQ(sched_getaffinity(0, sizeof mask, &mask), 0);
  std::set<int> cpus;
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &mask)) cpus.insert(cpu);
  return cpus;
}

void allow(const std::set<int>& cpus) {
  cpu_set_t mask;
  CPU_ZERO(&mask);
  for (const int cpu : cpus) CPU_SET(cpu, &mask);
  ASSERT_EQ(sched_setaffinity(0, sizeof mask, &mask), 0);
}

TEST(Cores, PlanIsTheAffinityMask) {
  const CorePlan plan = plan_cores();
  EXPECT_EQ(std::set<int>(plan.cpus.begin(), plan.cpus.end()), mask_of_this_thread());
  EXPECT_EQ(plan.cpus.size(), mask_of_this_thread().size()) << "a cpu is named twice";
  EXPECT_GE(plan.usable, 1);
  EXPECT_LE(plan.usable, static_cast<int>(plan.cpus.size()));
}

TEST(Cores, PlanFollowsTheAffinityMask) {
  const std::set<int> all = mask_of_this_thread();
  if (all.size() < 2) GTEST_SKIP() << "one cpu only";
  for (const int cpu : {*all.begin(), *all.rbegin()}) {
    allow({cpu});
    const CorePlan plan = plan_cores();
    EXPECT_EQ(plan.cpus, std::vector<int>{cpu});
    EXPECT_EQ(plan.usable, 1);
  }
  allow(all);
}

TEST(Cores, PinAndUnpin) {
  std::thread([] {
    const std::set<int> before = mask_of_this_thread();
    const int cpu = *before.rbegin();
    ASSERT_TRUE(pin_this_thread(cpu));
    EXPECT_EQ(mask_of_this_thread(), std::set<int>{cpu});
    unpin_this_thread(std::vector<int>(before.begin(), before.end()));
    EXPECT_EQ(mask_of_this_thread(), before);
  }).join();
}

TEST(Cores, PinningToACpuThatIsNotThereIsRefused) {
  std::thread([] {
    const std::set<int> before = mask_of_this_thread();
    EXPECT_FALSE(pin_this_thread(1000));
    EXPECT_EQ(mask_of_this_thread(), before);
  }).join();
}

}  // namespace
}  // namespace trireme::base
