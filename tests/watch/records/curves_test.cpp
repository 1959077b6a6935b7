// Curves and differences of runs.
#include <gtest/gtest.h>

#include "watch/records/curves.h"
#include "watch/records/run_difference.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

class Curves : public testing::Test {
 protected:
  // Two runs of two epochs with ten steps each; b's loss differs from step 13 on.
  void SetUp() override {
    for (const char* name : {"a", "b"}) {
      std::string lines;
      for (int step = 1; step <= 20; ++step) {
        lines += step_line(step, name[0] == 'b' && step >= 13 ? 2.0 : 1.0 / step);
        if (step % 10 == 0) lines += epoch_line(step / 10 - 1, 0.5 + 0.01 * step);
      }
      write_file(runs_ / name / "run.json", run_json("lenet5", 1));
      write_file(runs_ / name / "metrics.jsonl", lines);
    }
  }
  void checkpoint(const char* run, int step, const std::string& hash) {
    write_file(runs_ / run / "checkpoints" / ("step-" + std::to_string(step)) / "state.json",
               R"({"step":)" + std::to_string(step) + R"(,"sha256":{"weights.safetensors":")" + hash + R"("}})");
  }

  base::TemporaryFolder folder_{"curves"};
  base::fs::path runs_ = folder_.path();
};

TEST_F(Curves, HaveTrainingAndHeldOutPoints) {
  const std::vector<Plot> plots = curves_of(read_runs(runs_), {});
  ASSERT_EQ(plots.size(), 2u);
  EXPECT_EQ(plots[0].title, "loss");
  ASSERT_EQ(plots[0].lines.size(), 4u);
  EXPECT_EQ(plots[0].lines[0].points.size(), 20u);
  EXPECT_EQ(plots[0].lines[0].points[4], (std::pair{0.5, 0.2}));  // step 5 of 10 an epoch
  EXPECT_EQ(plots[1].lines[1].points, (std::vector<std::pair<double, double>>{{1, 0.6}, {2, 0.7}}));
  EXPECT_EQ(plots[0].lines[2].colour, plots[0].lines[3].colour);
}

TEST_F(Curves, OverTimeStepsLieBetweenTheEndsOfEpochs) {
  const std::vector<Plot> plots = curves_of({*read_run(runs_ / "a")}, {.x = CurveAxis::time, .values = {"lr"}});
  ASSERT_EQ(plots.size(), 1u);
  EXPECT_EQ(plots[0].lines[0].points[9].first, 2.5);    // an epoch takes 2.5 s
  EXPECT_EQ(plots[0].lines[0].points[14].first, 3.75);  // the middle of the second
}

TEST_F(Curves, WithoutNumbersThereIsNoPlot) {
  write_file(runs_ / "c" / "run.json", run_json("lenet5", 1));
  EXPECT_TRUE(curves_of({*read_run(runs_ / "c")}, {}).empty());
}

TEST_F(Curves, DifferenceNamesTheFirstStepAndCheckpoint) {
  checkpoint("a", 5, "x"), checkpoint("b", 5, "x");
  checkpoint("a", 15, "x"), checkpoint("b", 15, "y");
  checkpoint("a", 20, "x");
  const RunRecord a = *read_run(runs_ / "a"), b = *read_run(runs_ / "b");
  const RunDifference difference = difference_of(a, b);
  EXPECT_TRUE(difference.options.empty());
  EXPECT_EQ(difference.common_steps, 20);
  EXPECT_EQ(difference.first_different_loss, 13);
  EXPECT_EQ(difference.common_checkpoints, 2);
  EXPECT_EQ(difference.first_different_checkpoint, 15);
  EXPECT_EQ(difference_lines(a, b, difference).back(), "weights: different in the checkpoints of step 15");
  const RunDifference same = difference_of(a, a);
  EXPECT_EQ(same.first_different_loss, 0);
  EXPECT_EQ(same.first_different_checkpoint, 0);
  EXPECT_TRUE(same.results.empty());
}

TEST_F(Curves, DifferenceOfOptionsLeavesThePlaceOut) {
  write_file(runs_ / "b" / "run.json", R"({"configuration":{"model":"alexnet","data":"mnist","run":"elsewhere"}})");
  const RunDifference difference = difference_of(*read_run(runs_ / "a"), *read_run(runs_ / "b"));
  ASSERT_EQ(difference.options.size(), 2u);
  EXPECT_EQ(difference.options[0].name, "model");
  EXPECT_EQ(difference.options[0].b, "alexnet");
  EXPECT_EQ(difference.options[1].name, "strategy");
}

}  // namespace
}  // namespace trireme::watch
