// The profile of a crew: every task of every oar is counted, costs are those of the mathematics, and the rows add up to
// the threads' time.
#include <gtest/gtest.h>

#include <algorithm>

#include "base/cpu/race_check.h"
#include "base/system/clock.h"
#include "crew/crew.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"

namespace trireme::crew {
namespace {

using observe::Profile;
using observe::ProfilePhase;
using observe::ProfileRow;

constexpr int kSteps = 3;

Profile profile_of(const graph::Network& net, std::int64_t batch, int oars, int threads) {
  CrewOptions options;
  options.batch = batch;
  options.oars = oars;
  options.threads = threads;
  options.profile = true;
  support::CrewRun run(net, options);
  for (int step = 0; step < kSteps; ++step) run.step(batch);
  return run.crew().profile({4, 20});
}

const ProfileRow* compute(const Profile& profile, const std::string& layer, const std::string& kind,
                          ProfilePhase phase) {
  for (const ProfileRow& each : profile.rows)
    if (each.layer == layer && each.kind == kind && each.phase == phase) return &each;
  return nullptr;
}

// The seconds of all rows but `waiting`.
double work_of(const Profile& profile) {
  double sum = 0;
  for (const ProfileRow& each : profile.rows) {
    EXPECT_GE(each.seconds, 0) << each.layer << " " << each.kind;
    if (each.kind != "waiting") sum += each.seconds;
  }
  return sum;
}

TEST(CrewProfile, CountsEveryOarAndItsCost) {
  for (const int threads : {1, 2, 3}) {
    const Profile profile = profile_of(support::small_cnn(), 7, 3, threads);
    EXPECT_EQ(profile.steps, kSteps);
    EXPECT_EQ(profile.threads, threads);
    // 11 channels of 3x3x3 products over 9x7 pixels, 2 operations each; 7 samples whatever the oars.
    const double conv1 = 2.0 * 11 * 27 * 63 * 7 * kSteps;
    const ProfileRow* forward = compute(profile, "conv1", "conv", ProfilePhase::forward);
    ASSERT_NE(forward, nullptr);
    EXPECT_EQ(forward->calls, 3 * kSteps);
    EXPECT_EQ(forward->flops, conv1);
    EXPECT_GT(forward->seconds, 0);
    EXPECT_FALSE(forward->kernel.empty());
    // Nobody wants the gradient of the image: one product. Of conv2 (20 channels, 11x2x2, 3x2 pixels): two.
    EXPECT_EQ(compute(profile, "conv1", "conv", ProfilePhase::backward)->flops, conv1);
    EXPECT_EQ(compute(profile, "conv2", "conv", ProfilePhase::backward)->flops, 2 * 2.0 * 20 * 44 * 6 * 7 * kSteps);
    ASSERT_NE(compute(profile, "", "gradient sum", ProfilePhase::backward), nullptr);
    const ProfileRow* update = compute(profile, "", "update", ProfilePhase::update);
    ASSERT_NE(update, nullptr);
    EXPECT_GE(update->bytes, 20.0 * static_cast<double>(support::small_cnn().parameter_count()) * kSteps);
    EXPECT_EQ(compute(profile, "flatten", "flatten", ProfilePhase::forward), nullptr) << "a view does nothing";
  }
}

TEST(CrewProfile, SharedValuesAndBatchNormAreListed) {
  const Profile profile = profile_of(support::small_residual(), 8, 2, 1);
  bool accumulates = false;
  for (const ProfileRow& each : profile.rows) accumulates |= each.kind == "gradient of a shared value";
  EXPECT_TRUE(accumulates);
  EXPECT_NE(compute(profile, "", "statistics", ProfilePhase::update), nullptr);
}

// What the threads measured of their work never exceeds their time; `waiting` is the rest.
TEST(CrewProfile, RowsAddUpToTheThreadsTime) {
  for (const int threads : {1, 2}) {
    const std::int64_t start = base::now_ns();
    const Profile profile = profile_of(support::resnet20(), 4, 2, threads);
    EXPECT_LE(profile.wall_seconds, base::seconds_since(start));
    const double whole = threads * profile.wall_seconds;
    EXPECT_LE(work_of(profile), whole);
    EXPECT_NEAR(compute(profile, "", "waiting", ProfilePhase::update)->seconds, whole - work_of(profile), 1e-6 * whole);
  }
}

// A single thread waits for nobody: nearly all its time is in the rows of some op. Other programs may get in between,
// so one undisturbed attempt of many is enough; a row that is not measured is missing in all of them.
TEST(CrewProfile, OneThreadIsNearlyAlwaysAtWork) {
  if (base::kChecksRaces)
    GTEST_SKIP() << "telling ThreadSanitizer of what kernels read and write takes a third of the time";
  double most = 0;
  for (int attempt = 0; attempt < 20 && most < 0.9; ++attempt) {
    const Profile profile = profile_of(support::resnet20(), 4, 2, 1);
    most = std::max(most, work_of(profile) / profile.wall_seconds);
  }
  EXPECT_GE(most, 0.9);
}

TEST(CrewProfile, IsEmptyUnlessAskedFor) {
  CrewOptions options;
  options.batch = 4;
  support::CrewRun run(support::small_cnn(), options);
  run.step(4);
  EXPECT_EQ(run.crew().profile({}).rows.size(), 1u) << "waiting alone";
}

TEST(CrewProfile, ClearingStartsAnew) {
  CrewOptions options;
  options.batch = 4;
  options.profile = true;
  support::CrewRun run(support::small_cnn(), options);
  for (int step = 0; step < 2; ++step) run.step(4);
  run.crew().clear_profile();
  run.step(4);
  const Profile profile = run.crew().profile({});
  EXPECT_EQ(profile.steps, 1);
  EXPECT_EQ(compute(profile, "conv1", "conv", ProfilePhase::forward)->calls, 1);
}

}  // namespace
}  // namespace trireme::crew
