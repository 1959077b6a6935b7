// Who is blamed for waiting, and what for.
#include "train/helm/straggler_monitor.h"

#include <gtest/gtest.h>

namespace trireme::train {
namespace {

using observe::StepSeconds;
using strategy::WorkerStepReport;

constexpr std::int64_t kSecond = 1'000'000'000;

TEST(StragglerMonitor, IsTheLastOnesSinceTheMiddleOfTheOthers) {
  StragglerMonitor lateness({0, 0, 0, 0});
  for (int step = 0; step < 10; ++step)
    lateness.see({{{.forward = 1}, 1 * kSecond, false},
                  {{.forward = 1}, 2 * kSecond, false},
                  {{.forward = 5}, 7 * kSecond, false},
                  {{.forward = 1}, 3 * kSecond, false}});
  EXPECT_EQ(lateness.caused()[0], 0);
  EXPECT_EQ(lateness.caused()[1], 0);
  EXPECT_DOUBLE_EQ(lateness.caused()[2], 50) << "7 - 2, ten times";
  EXPECT_DOUBLE_EQ(lateness.seconds()[2].forward, 50);
  EXPECT_EQ(lateness.sentence(200), "worker 2 makes everybody wait 25 %: its forward is slow");
  EXPECT_EQ(lateness.sentence(2000), "") << "not worth saying";
  EXPECT_EQ(lateness.sentence(0), "");
}

TEST(StragglerMonitor, KnowsThatClocksDiffer) {
  StragglerMonitor lateness({0, 100 * kSecond});
  lateness.see({{{.backward = 3}, 3 * kSecond, false}, {{.backward = 1}, 101 * kSecond, false}});
  EXPECT_DOUBLE_EQ(lateness.caused()[0], 2);
  EXPECT_EQ(lateness.caused()[1], 0);
  EXPECT_EQ(lateness.sentence(10), "worker 0 makes everybody wait 20 %: its backward is slow");
}

TEST(StragglerMonitor, NamesThePhaseInWhichOneIsSlowerThanOthers) {
  // All have a long backward; one has to wait for its data.
  StragglerMonitor lateness({0, 0, 0});
  lateness.see({{{.load = 4, .backward = 9}, 13 * kSecond, false},
                {{.load = 0, .backward = 9}, 9 * kSecond, false},
                {{.load = 0, .backward = 9}, 9 * kSecond, false}});
  EXPECT_EQ(lateness.sentence(10), "worker 0 makes everybody wait 40 %: its loading is slow");
}

TEST(StragglerMonitor, WaitingAtTheBeginningOfAStepIsWaiting) {
  // Worker 1 loads for 2 s. The others wait for its weights before their forward, and all have their gradients
  // together.
  StragglerMonitor lateness({0, 0, 0});
  for (int step = 0; step < 5; ++step)
    lateness.see({{{.backward = 1, .network = 2}, 3 * kSecond, false},
                  {{.load = 2, .backward = 1}, 3 * kSecond, false},
                  {{.backward = 1, .network = 2}, 3 * kSecond, false}});
  EXPECT_DOUBLE_EQ(lateness.caused()[1], 10);
  EXPECT_EQ(lateness.sentence(15), "worker 1 makes everybody wait 67 %: its loading is slow");
}

TEST(StragglerMonitor, BlamesNoPhaseThatDoesNotExplainIt) {
  // It came late, but all phases took as long as those of the others.
  StragglerMonitor late({0, 0, 0});
  late.see({{{.backward = 9.1}, 13 * kSecond, false},
            {{.backward = 9}, 9 * kSecond, false},
            {{.backward = 9}, 9 * kSecond, false}});
  EXPECT_EQ(late.sentence(10), "worker 0 makes everybody wait 40 %");
  // 40 ms are what the start of a run makes of it.
  StragglerMonitor quick({0, 0});
  quick.see({{{.load = 0.04}, kSecond / 25, false}, {{.load = 0}, 0, false}});
  EXPECT_EQ(quick.sentence(0.1), "");
}

TEST(StragglerMonitor, OfOneWorkerIsNobodys) {
  StragglerMonitor lateness({0});
  lateness.see({{{.forward = 1}, kSecond, false}});
  EXPECT_EQ(lateness.caused()[0], 0);
  EXPECT_EQ(lateness.sentence(1), "");
}

TEST(StragglerMonitor, PushesAddToSecondsAlone) {
  StragglerMonitor lateness({0, 0});
  lateness.add_push(1, {.load = 1, .forward = 2, .backward = 3, .update = 4, .network = 5, .hidden = 6});
  lateness.add_push(1, {.load = 1, .forward = 2, .backward = 3, .update = 4, .network = 5, .hidden = 6});
  const StepSeconds sum = lateness.seconds()[1];
  EXPECT_EQ(sum.load + 10 * sum.forward + 100 * sum.backward + 1000 * sum.update, 2 + 40 + 600 + 8000);
  EXPECT_EQ(sum.network, 10);
  EXPECT_EQ(sum.hidden, 12);
  EXPECT_EQ(lateness.sentence(1), "");
}

TEST(StragglerMonitor, ReportsWhatWasDoneSinceTheLastReport) {
  StragglerMonitor monitor({0, 0});
  EXPECT_FALSE(monitor.has_news());
  const auto step = [&](double slow) {
    monitor.see({{{.backward = 1}, 1 * kSecond, false},
                 {{.backward = slow}, static_cast<std::int64_t>(slow * kSecond), false}});
  };
  step(3);
  step(3);
  EXPECT_TRUE(monitor.has_news());
  observe::WorkersReport report = monitor.report(6);
  EXPECT_FALSE(monitor.has_news());
  ASSERT_EQ(report.workers.size(), 2u);
  EXPECT_EQ(report.workers[1].worker, 1);
  EXPECT_EQ(report.workers[1].steps, 2);
  EXPECT_DOUBLE_EQ(report.workers[1].seconds.backward, 6);
  EXPECT_DOUBLE_EQ(report.workers[1].caused_seconds, 4);
  EXPECT_EQ(report.lateness, "worker 1 makes everybody wait 67 %: its backward is slow");
  step(1);
  report = monitor.report(2);
  EXPECT_EQ(report.workers[1].steps, 1);
  EXPECT_DOUBLE_EQ(report.workers[1].seconds.backward, 1);
  EXPECT_DOUBLE_EQ(report.workers[1].caused_seconds, 0);
  EXPECT_EQ(report.lateness, "worker 1 makes everybody wait 50 %: its backward is slow") << "4 of the last 8 seconds";
  for (int i = 0; i < 9; ++i) step(1), report = monitor.report(1);
  EXPECT_EQ(report.lateness, "") << "that is over for ten reports";
  EXPECT_EQ(monitor.sentence(17), "worker 1 makes everybody wait 24 %: its backward is slow") << "the whole run";
}

TEST(StragglerMonitor, ReportsPushesAndForgetsTheLost) {
  StragglerMonitor monitor({0, 0, 0});
  for (int clock = 0; clock < 3; ++clock) monitor.add_push(2, {.forward = 1}, clock);
  (void)monitor.report(1);
  monitor.add_push(2, {.forward = 1}, 3);
  monitor.lose(0);
  const observe::WorkersReport report = monitor.report(1);
  ASSERT_EQ(report.workers.size(), 2u);
  EXPECT_EQ(report.workers[0].steps, 0);
  EXPECT_EQ(report.workers[1].worker, 1);
  EXPECT_EQ(report.workers[1].steps, 1);
  EXPECT_EQ(report.workers[1].clock, 4);
}

TEST(StragglerMonitor, ASlowLinkIsBlamedWhereNobodyComputesLate) {
  StragglerMonitor monitor({0, 0, 0});
  for (int step = 0; step < 10; ++step)
    monitor.see({{{.backward = 1, .network = 3}, kSecond, false},
                 {{.backward = 1, .network = 3}, kSecond * 3 / 2, false},
                 {{.backward = 1, .network = 3}, kSecond, false}});
  EXPECT_EQ(monitor.sentence(40), "worker 1 makes everybody wait 12 %") << "without evidence of links";
  monitor.set_links(0, {{"a", "b", 1e9, 100}, {"a", "c", 1e9, 2}});
  monitor.set_links(1, {{"b", "a", 1e9, 100}, {"b", "c", 1e9, 100}});
  monitor.set_links(2, {{"c", "a", 1e9, 2}, {"c", "b", 1e9, 100}});
  const std::string sentence = monitor.sentence(40);
  EXPECT_NE(sentence.find("waits 75 % for the network: the link of worker 1 carries 10"), std::string::npos)
      << sentence;
  EXPECT_EQ(monitor.sentence(4000), "") << "the network takes too little to say so";
}

TEST(StragglerMonitor, AWorkerWithFewerOarsIsNamedThoughNobodyWaits) {
  StragglerMonitor monitor({0, 0, 0});
  for (int step = 0; step < 10; ++step)
    monitor.see(
        {{{.backward = 1}, kSecond, false}, {{.backward = 1}, kSecond, false}, {{.backward = 1}, kSecond, false}},
        {{0, 6}, {6, 8}, {8, 14}});
  EXPECT_EQ(monitor.sentence(10), "worker 1 computes 3.0 times as slowly as the others, so it gets fewer samples");
}

}  // namespace
}  // namespace trireme::train
