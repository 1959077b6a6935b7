// Slowness that is played.
#include "train/worker/simulated_slowdown.h"

#include <gtest/gtest.h>

#include <string>

#include "base/error.h"

namespace trireme::train {
namespace {

TEST(SimulatedSlowdown, OneWorkerSleepsInProportionToItsWork) {
  const SimulatedSlowdown slow = parse_slow("worker=2,factor=3", 4);
  for (std::int64_t step = 0; step < 10; ++step)
    for (int who = 0; who < 4; ++who) EXPECT_EQ(slow.seconds(who, step, 4, 0.5), who == 2 ? 1.0 : 0.0);
  EXPECT_EQ(parse_slow("", 4).seconds(0, 0, 4, 1), 0) << "nobody";
  EXPECT_EQ(parse_slow("worker=1,factor=1", 4).seconds(1, 0, 4, 1), 0);
  EXPECT_EQ(parse_slow("worker=1", 4).seconds(1, 0, 4, 1), 2) << "a factor of 3";
}

TEST(SimulatedSlowdown, ThePartIsPassedOn) {
  const SimulatedSlowdown slow = parse_slow("worker=1,factor=2,rotate=3", 3);
  for (std::int64_t step = 0; step < 30; ++step) {
    const auto turn = static_cast<int>((1 + step / 3) % 3);
    for (int who = 0; who < 3; ++who) EXPECT_EQ(slow.seconds(who, step, 3, 1), who == turn ? 1 : 0) << step;
  }
}

TEST(SimulatedSlowdown, Mistakes) {
  for (const char* text : {"worker=4", "worker=-1", "worker=1,factor=0.5", "worker=1,factor=nan", "worker=1,rotate=-1",
                           "factr=2", "worker", "worker=x", "2", ",", "worker=1,worker=2", "worker=4294967297"})
    EXPECT_THROW(parse_slow(text, 4), base::Error) << text;
}

}  // namespace
}  // namespace trireme::train
