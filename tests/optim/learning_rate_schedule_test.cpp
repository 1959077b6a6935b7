#include "optim/learning_rate_schedule.h"

#include <gtest/gtest.h>

#include <cmath>
#include <numbers>

#include "base/error.h"

namespace trireme::optim {
namespace {

TEST(LearningRateSchedule, CosineFunctionIsExactEnough) {
  for (int i = 0; i <= 100000; ++i) {
    const double x = i / 100000.0;
    ASSERT_NEAR(cos_pi(x), std::cos(std::numbers::pi * x), 1e-15) << x;
  }
  EXPECT_EQ(cos_pi(0), 1);
  EXPECT_EQ(cos_pi(0.5), 0);
  EXPECT_EQ(cos_pi(1), -1);
}

TEST(LearningRateSchedule, Constant) {
  const auto schedule = make_schedule("constant");
  for (const std::int64_t step : {0, 1, 99, 1000000}) EXPECT_EQ(schedule->lr(0.3, step, 10, 100), 0.3);
}

TEST(LearningRateSchedule, StepChangesAfterWholeEpochs) {
  const auto schedule = make_schedule("step:80=0.01,130=0.001");
  EXPECT_EQ(schedule->lr(0.1, 0, 7, 7 * 180), 0.1);
  EXPECT_EQ(schedule->lr(0.1, 80 * 7 - 1, 7, 7 * 180), 0.1);
  EXPECT_EQ(schedule->lr(0.1, 80 * 7, 7, 7 * 180), 0.01);
  EXPECT_EQ(schedule->lr(0.1, 130 * 7 - 1, 7, 7 * 180), 0.01);
  EXPECT_EQ(schedule->lr(0.1, 130 * 7, 7, 7 * 180), 0.001);
  EXPECT_EQ(schedule->lr(0.1, 100000, 7, 7 * 180), 0.001);
  EXPECT_EQ(schedule->text(), "step:80=0.01,130=0.001");
}

TEST(LearningRateSchedule, CosineGoesFromBaseToMin) {
  const auto schedule = make_schedule("cosine:min=0.02");
  EXPECT_EQ(schedule->lr(0.1, 0, 10, 200), 0.1);
  for (const std::int64_t step : {1, 50, 100, 133, 199})
    EXPECT_NEAR(schedule->lr(0.1, step, 10, 200),
                0.02 + 0.04 * (1 + std::cos(std::numbers::pi * static_cast<double>(step) / 200)), 1e-15);
  EXPECT_NEAR(schedule->lr(0.1, 100, 10, 200), 0.06, 1e-15);
  EXPECT_EQ(schedule->lr(0.1, 200, 10, 200), 0.02);
  EXPECT_EQ(schedule->lr(0.1, 5000, 10, 200), 0.02);
}

TEST(LearningRateSchedule, OneCycle) {
  const auto schedule = make_schedule("onecycle:peak=0.1,warm=30%");
  EXPECT_NEAR(schedule->lr(7, 0, 10, 100), 0.1 / 25, 1e-15);
  EXPECT_NEAR(schedule->lr(7, 29, 10, 100), 0.1, 1e-15);
  EXPECT_NEAR(schedule->lr(7, 99, 10, 100), 0.1 / 1e4, 1e-15);
  EXPECT_NEAR(schedule->lr(7, 10000, 10, 100), 0.1 / 1e4, 1e-15);
  // Half-way down (step 64 of 29 ... 99) is the mean of both ends.
  EXPECT_NEAR(schedule->lr(7, 64, 10, 100), (0.1 + 0.1 / 1e4) / 2, 1e-15);
  for (std::int64_t step = 1; step < 100; ++step) {
    const double before = schedule->lr(7, step - 1, 10, 100), now = schedule->lr(7, step, 10, 100);
    EXPECT_TRUE(step <= 29 ? now > before : now < before) << step;
  }
  EXPECT_NEAR(make_schedule("onecycle")->lr(0.5, 29, 10, 100), 0.5, 1e-15) << "the peak is the optimizer's rate";
  EXPECT_NEAR(make_schedule("onecycle:start=10,end=2.5e5")->lr(1, 0, 10, 100), 0.1, 1e-15);
  EXPECT_NEAR(make_schedule("onecycle:start=10,end=2.5e5")->lr(1, 99, 10, 100), 4e-6, 1e-15);
}

TEST(LearningRateSchedule, OneCycleAtItsEdges) {
  for (const char* text : {"onecycle:warm=0%", "onecycle:warm=100%", "onecycle:warm=50%", "onecycle"})
    for (const std::int64_t total : {1, 2, 3, 10})
      for (std::int64_t step = 0; step < total + 2; ++step) {
        const double lr = make_schedule(text)->lr(0.1, step, 1, total);
        EXPECT_GE(lr, 0.1 / 1e4 * (1 - 1e-12)) << text;
        EXPECT_LE(lr, 0.1 * (1 + 1e-12)) << text;
      }
}

TEST(LearningRateSchedule, WarmUpComposes) {
  const auto constant = make_schedule("constant:warmup=5");
  EXPECT_NEAR(constant->lr(0.1, 0, 10, 1000), 0.1 / 50, 1e-16);
  EXPECT_NEAR(constant->lr(0.1, 24, 10, 1000), 0.05, 1e-16);
  EXPECT_EQ(constant->lr(0.1, 49, 10, 1000), 0.1);
  EXPECT_EQ(constant->lr(0.1, 50, 10, 1000), 0.1);
  const auto cosine = make_schedule("cosine:warmup-steps=100");
  EXPECT_NEAR(cosine->lr(0.1, 9, 10, 300), 0.01, 1e-16);
  EXPECT_EQ(cosine->lr(0.1, 100, 10, 300), 0.1);
  EXPECT_NEAR(cosine->lr(0.1, 200, 10, 300), 0.05, 1e-16);
  const auto steps = make_schedule("step:warmup=2,1=0.5,3=0.25");
  EXPECT_EQ(steps->lr(1, 7, 10, 100), 0.4);
  EXPECT_NEAR(steps->lr(1, 15, 10, 100), 0.4, 1e-15);
  EXPECT_EQ(steps->lr(1, 30, 10, 100), 0.25);
  EXPECT_NEAR(make_schedule("constant:warmup=0.5")->lr(1, 0, 10, 100), 0.2, 1e-16);
  // A warm-up longer than the run still only rises.
  EXPECT_NEAR(make_schedule("cosine:warmup-steps=1000")->lr(1, 99, 10, 100), 0.1, 1e-16);
}

TEST(LearningRateSchedule, WrongTextsAreUserErrors) {
  for (const char* text :
       {"", "cosin", "step", "step:", "step:a=1", "step:5=x", "step:5=-1", "step:-5=1", "step:5=1,5=2", "step:9=1,5=2",
        "constant:min=1", "cosine:min=-1", "cosine:warmup=-1", "onecycle:warm=130%", "onecycle:peak=0",
        "onecycle:end=0", "cosine:warmup=1,warmup-steps=2", "step:warmup=3"}) {
    try {
      (void)make_schedule(text);
      ADD_FAILURE() << "'" << text << "' was accepted";
    } catch (const base::Error& error) {
      EXPECT_EQ(error.kind(), base::ErrorKind::user) << text;
    }
  }
  EXPECT_EQ(schedule_forms().size(), 4u);
}

}  // namespace
}  // namespace trireme::optim
