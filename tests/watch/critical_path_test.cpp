// What decides the time of steps, on time lines whose answer is known.
#include "watch/trace/critical_path.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace trireme::watch {
namespace {

constexpr double kMsInUs = 1000;

// One worker's step: its phases one after the other, in ms.
struct Phases {
  double load = 1, forward = 10, backward = 20, network = 2, update = 1;
};

class PathTest : public testing::Test {
 protected:
  void worker(std::int64_t step, int number, const Phases& phases, double start_ms, int oars = 4) {
    trace_.processes[number] = "worker " + std::to_string(number) + " on here";
    auto& spans = trace_.steps[step][number];
    double at = start_ms;
    const auto phase = [&](const char* name, double ms) {
      RecordedSpan span;
      span.name = name;
      span.category = "phase";
      span.start_us = kMsInUs * at;
      span.end_us = kMsInUs * (at += ms);
      spans.push_back(span);
    };
    phase("load", phases.load);
    phase("forward", phases.forward);
    phase("backward", phases.backward);
    phase("network", phases.network);
    phase("update", phases.update);
    RecordedSpan whole;
    whole.name = whole.category = "step";
    whole.start_us = kMsInUs * start_ms;
    whole.end_us = kMsInUs * at;
    spans.push_back(whole);
    RecordedSpan oar;
    oar.name = "forward";
    oar.category = "oar";
    oar.oars = oars;
    spans.push_back(oar);
  }
  void sum(std::int64_t step, int process, int bucket, double ms, int waited_for) {
    RecordedSpan span;
    span.name = "reduce";
    span.category = "network";
    span.bucket = bucket;
    span.peer = waited_for;
    span.end_us = kMsInUs * ms;
    span.detail = "fc.weight; exact, slices";
    span.bytes = 1e6;
    trace_.steps[step][process].push_back(span);
  }

  RecordedTrace trace_;
};

TEST_F(PathTest, TheLastWorkerDecides) {
  for (int step = 1; step <= 9; ++step) {
    worker(step, 0, {.network = 42}, 100.0 * step);
    worker(step, 1, {.backward = 60}, 100.0 * step);
  }
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_TRUE(path.is_synchronous);
  EXPECT_EQ(path.steps, 9);
  EXPECT_NEAR(path.seconds, 0.074, 1e-9);
  const PathPart& part = path.parts.at(path.decides);
  EXPECT_EQ(part.process, "worker 1 on here");
  EXPECT_EQ(part.phase, "backward");
  // Worker 0 is then last, with 32 ms, and 2 ms of network remain.
  EXPECT_NEAR(part.gained, 0.074 - 0.034, 1e-9);
  EXPECT_EQ(path.slow_worker, "worker 1 on here");
  EXPECT_NEAR(path.slow_factor, 70.0 / 30, 1e-9);
  EXPECT_NE(path_lines(path).at(path_lines(path).size() - 2).find("decided by: backward of worker 1 on here: 60 ms"),
            std::string::npos);
}

TEST_F(PathTest, ASlowLinkIsBlamedOnWhomTheOthersWaitFor) {
  for (int step = 1; step <= 9; ++step)
    for (int number = 0; number < 3; ++number) {
      worker(step, number, {.network = 80}, 200.0 * step);
      sum(step, number, 0, 5, (number + 1) % 3);
      sum(step, number, 1, 70, number == 2 ? 0 : 2);
    }
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_EQ(path.parts.at(path.decides).phase, "network");
  EXPECT_EQ(path.bucket.bucket, 1);
  EXPECT_EQ(path.bucket.waited_for, "worker 2 on here");
  EXPECT_NEAR(path.parts.at(path.decides).gained, 0.080, 1e-9);
  const nlohmann::json json = nlohmann::json::parse(path_json(path));
  EXPECT_EQ(json["decided_by"], "the network, bucket 1, to and from worker 2 on here");
  EXPECT_EQ(json["bucket"]["number"], 1);
  EXPECT_EQ(json["path"].size(), 5u);
}

TEST_F(PathTest, ASlowDisk) {
  for (int step = 1; step <= 3; ++step) {
    worker(step, 0, {.load = 50}, 100.0 * step);
    worker(step, 1, {.load = 49}, 100.0 * step);
  }
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_EQ(path.parts.at(path.decides).phase, "load");
  EXPECT_NEAR(path.parts.at(path.decides).gained, 0.001, 1e-9) << "the other one loads as slowly";
  EXPECT_TRUE(path.slow_worker.empty());
}

TEST_F(PathTest, TheMedianStepCounts) {
  for (int step = 1; step <= 21; ++step) {
    worker(step, 0, {.backward = step % 5 == 0 ? 500.0 : 20.0 + 0.01 * step}, 1000.0 * step);
    worker(step, 1, {}, 1000.0 * step);
  }
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_EQ(path.steps, 18) << "without the first three";
  EXPECT_LT(path.seconds, 0.040);
}

// A step is disturbed in one phase or another.
TEST_F(PathTest, TimesAreMeansOfTheStepsAroundTheMedian) {
  for (int step = 1; step <= 60; ++step)
    worker(step, 0, step % 2 == 0 ? Phases{.forward = 30.5 + 0.01 * step} : Phases{.backward = 40.5 + 0.01 * step},
           1000.0 * step);
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_GT(path.mean_of, 5);
  EXPECT_NEAR(path.parts[1].seconds, 0.020, 0.004) << "forward: half of the steps have 10 ms, half 30";
  EXPECT_NEAR(path.parts[2].seconds, 0.030, 0.004) << "backward";
}

// Late steps of the two that are left, more than the three made together.
TEST_F(PathTest, AfterALossTheRemainingWorkersCount) {
  for (int step = 1; step <= 60; ++step)
    for (int number = 0; number < 3; ++number)
      if (number != 1 || step <= 20) worker(step, number, {.update = step <= 20 ? 50.0 : 1.0}, 100.0 * step);
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_EQ(path.steps, 37);
  EXPECT_EQ(path.parts.at(path.decides).phase, "backward");
}

// Of a busy machine: workers of a synchronous step do not compute at the same time.
TEST_F(PathTest, TheStrategySaysWhetherStepsAreSynchronous) {
  for (int step = 1; step <= 20; ++step) {
    worker(step, 0, {}, 100.0 * step);
    worker(step, 1, {.backward = 30}, 100.0 * step + 50);
  }
  EXPECT_FALSE(critical_path_of(trace_).is_synchronous);
  const CriticalPath path = critical_path_of(trace_, true);
  EXPECT_TRUE(path.is_synchronous);
  EXPECT_NEAR(path.parts.at(path.decides).gained, 0.044 - 0.034, 1e-9) << "worker 0 is then last";
}

// Each makes other steps than the other at the same time.
TEST_F(PathTest, OfAsynchronousWorkersTheSlowestCounts) {
  for (int step = 1; step <= 20; ++step) {
    worker(step, 0, {}, 40.0 * step);
    worker(step, 1, {.backward = 100}, 120.0 * step);
  }
  const CriticalPath path = critical_path_of(trace_);
  EXPECT_FALSE(path.is_synchronous);
  EXPECT_EQ(path.parts.at(path.decides).process, "worker 1 on here");
  EXPECT_EQ(path.parts.at(path.decides).phase, "backward");
}

}  // namespace
}  // namespace trireme::watch
