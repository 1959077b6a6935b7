#include "train/coordinator.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

StepNews push_of(int worker, std::int64_t step) {
  StepNews news;
  news.kind = ReportKind::push;
  news.worker = worker;
  news.step = step;
  news.samples = 1;
  news.notes.resize(1);
  return news;
}

TEST(Coordinator, AWorkerThatAsksNoMoreIsWaitedForUntilItsLastPush) {
  Coordinator coordinator(2, 2, 0, 2, {1, 1});
  // Worker 0 takes the first share and is slow; worker 1 takes all others.
  EXPECT_EQ(coordinator.hand_out(0).step, 0);
  EXPECT_EQ(coordinator.hand_out(1).step, 0);
  EXPECT_EQ(coordinator.hand_out(1).step, 1);
  EXPECT_EQ(coordinator.hand_out(1).step, 1);
  EXPECT_EQ(coordinator.hand_out(0).step, -1);
  coordinator.leave(0);
  coordinator.done(push_of(1, 1), 1);
  coordinator.done(push_of(1, 2), 2);
  EXPECT_EQ(coordinator.clocks().limit(1), 2);  // its third push would be two ahead
  coordinator.done(push_of(0, 1), 3);
  EXPECT_GT(coordinator.clocks().limit(1), 2);
}

TEST(Coordinator, NobodyWaitsForAWorkerThatNeverHadAShare) {
  Coordinator coordinator(2, 2, 0, 1, {0, 0});
  coordinator.hand_out(1);
  coordinator.hand_out(1);
  EXPECT_EQ(coordinator.hand_out(0).step, -1);
  coordinator.leave(0);
  coordinator.done(push_of(1, 1), 1);
  EXPECT_EQ(coordinator.clocks().limit(1), 2);
}

}  // namespace
}  // namespace trireme::train
