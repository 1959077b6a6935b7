// The times that a crew reports of a step.
#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <thread>

#include "base/system/clock.h"
#include "support/core_crew_run.h"
#include "support/core_networks.h"

namespace trireme::crew {
namespace {

// Weights that come late and updates that take long are seen as such, and the four times are those of the call.
TEST(ComputeReport, HasTimesThatAddUp) {
  constexpr std::chrono::milliseconds kNap{2};
  for (const int threads : {1, 2}) {
    CrewOptions options;
    options.batch = 8;
    options.oars = 4;
    options.threads = threads;
    support::CrewRun run(support::resnet20(), options);
    run.load(8);
    std::atomic<std::int64_t> waits{0}, updates{0};
    const auto nap = [&](std::atomic<std::int64_t>& count) {
      std::this_thread::sleep_for(kNap);
      ++count;
    };
    const std::int64_t start = base::now_ns();
    const ComputeReport report = run.crew().compute(
        run.view(), {}, {{0, 4}}, [&](const Chunk&, std::span<const float* const>) { nap(updates); },
        [&](std::span<const int>) { nap(waits); });
    const double around = base::seconds_since(start);
    const double sum = report.forward_seconds + report.backward_seconds + report.update_seconds + report.waited_seconds;
    EXPECT_LE(sum, around);
    EXPECT_GT(report.forward_seconds, 0);
    EXPECT_GT(report.backward_seconds, 0);
    const auto slept = [&](std::int64_t naps) {
      return std::chrono::duration<double>(kNap).count() * static_cast<double>(naps);
    };
    EXPECT_GT(waits, 0);
    EXPECT_GT(updates, 0);
    EXPECT_GE(sum * threads, slept(waits + updates));
    if (threads > 1) continue;  // several threads' times are shared out in proportion
    EXPECT_GE(report.waited_seconds, slept(waits));
    EXPECT_GE(report.update_seconds, slept(updates));
  }
}

}  // namespace
}  // namespace trireme::crew
