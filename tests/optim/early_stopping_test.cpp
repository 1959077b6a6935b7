#include "optim/early_stopping.h"

#include <gtest/gtest.h>

#include <limits>

#include "base/error.h"

namespace trireme::optim {
namespace {

TEST(EarlyStopping, StopsAfterPatienceWithoutImprovement) {
  EarlyStopping stopping(2, 0, Better::higher);
  EXPECT_FALSE(stopping.improved());
  EXPECT_FALSE(stopping.observe(0.5));
  EXPECT_TRUE(stopping.improved());
  EXPECT_FALSE(stopping.observe(0.5)) << "equal is no improvement: 1 of 2";
  EXPECT_FALSE(stopping.improved());
  EXPECT_FALSE(stopping.observe(0.6)) << "improved: counts from 0 again";
  EXPECT_FALSE(stopping.observe(0.1));
  EXPECT_TRUE(stopping.observe(0.59));
  EXPECT_EQ(stopping.state(), (EarlyStopping::State{0.6, 2}));
}

TEST(EarlyStopping, LowerIsBetterByMoreThanMinDelta) {
  EarlyStopping stopping(1, 0.25, Better::lower);
  EXPECT_FALSE(stopping.observe(2));
  EXPECT_FALSE(stopping.observe(1.5));
  EXPECT_TRUE(stopping.observe(1.25)) << "better by exactly min_delta is not more";
}

TEST(EarlyStopping, NanNeverImproves) {
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EarlyStopping stopping(3, 0, Better::lower);
  EXPECT_FALSE(stopping.observe(nan));
  EXPECT_FALSE(stopping.state().best.has_value());
  EXPECT_FALSE(stopping.observe(nan));
  EXPECT_FALSE(stopping.observe(1));
  EXPECT_FALSE(stopping.observe(nan));
  EXPECT_EQ(stopping.state(), (EarlyStopping::State{1.0, 1}));
}

TEST(EarlyStopping, ResumesWhereItWas) {
  EarlyStopping first(2, 0, Better::higher);
  EXPECT_FALSE(first.observe(1));
  EXPECT_FALSE(first.observe(0));
  EarlyStopping resumed(2, 0, Better::higher);
  resumed.restore(first.state());
  EXPECT_TRUE(resumed.observe(0));
}

TEST(EarlyStopping, WrongOptions) {
  EXPECT_THROW(EarlyStopping(0, 0, Better::higher), base::Error);
  EXPECT_THROW(EarlyStopping(1, -1, Better::higher), base::Error);
  EXPECT_THROW(EarlyStopping(1, std::numeric_limits<double>::quiet_NaN(), Better::higher), base::Error);
}

}  // namespace
}  // namespace trireme::optim
