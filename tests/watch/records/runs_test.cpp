// Run folders as records and tables: whole ones, unfinished ones, damaged ones.
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "train/run_folder/run_folder.h"
#include "watch/records/run_record.h"
#include "watch/records/run_table.h"
#include "watch/run_folders.h"

namespace trireme::watch {
namespace {

namespace fs = base::fs;

class Runs : public testing::Test {
 protected:
  void SetUp() override {
    write_file(runs_ / "a" / "run.json", run_json("lenet5", 1));
    write_file(runs_ / "a" / "metrics.jsonl", step_line(9, 0.5) + step_line(10, 0.25) + epoch_line(0, 0.75));
    write_file(runs_ / "a" / "summary.json",
               R"({"test_loss":0.125,"test_accuracy":0.875,"samples_per_second":1000,"weights_sha256":"abc",)"
               R"("seconds":{"load":1,"total":20,"whole_run":30}})");
    // Killed within a line.
    write_file(runs_ / "b" / "run.json", run_json("resnet18", 3));
    write_file(runs_ / "b" / "metrics.jsonl",
               step_line(10, 0.5) + epoch_line(0, 0.5) + step_line(11, 0.75) + R"({"type":"step","st)");
    write_file(runs_ / "other" / "notes.txt", "no run");
  }

  base::TemporaryFolder folder_{"runs"};
  fs::path runs_ = folder_.path() / "runs";
};

TEST_F(Runs, AFinishedOneHasItsSummary) {
  const auto run = read_run(runs_ / "a");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->name, "a");
  EXPECT_EQ(run->state, RunState::finished);
  EXPECT_EQ(run->strategy, "single");
  EXPECT_EQ(run->parameters, 62006);
  EXPECT_EQ(best_known_accuracy(*run), 0.875);
  EXPECT_EQ(best_known_loss(*run), 0.125);
  EXPECT_EQ(run_seconds(*run), 30);
  EXPECT_EQ(run->last_step.step, 10);
  EXPECT_EQ(run->last_step.loss, 0.25);
  ASSERT_EQ(run->epochs.size(), 1u);
  EXPECT_EQ(run->epochs[0].train_accuracy, 0.8);
}

TEST_F(Runs, AKilledOneIsReadUpToItsLastWholeLine) {
  const auto run = read_run(runs_ / "b");
  ASSERT_TRUE(run);
  EXPECT_EQ(run->state, RunState::interrupted);
  EXPECT_EQ(run->strategy, "allreduce");
  EXPECT_EQ(run->last_step.step, 11);
  EXPECT_EQ(best_known_accuracy(*run), 0.5);
  EXPECT_EQ(run_seconds(*run), 2.5);
  EXPECT_TRUE(std::isnan(run->samples_per_second));
}

TEST_F(Runs, OneThatIsLockedIsRunning) {
  train::RunFolder running = train::RunFolder::open((runs_ / "a").string());
  running.lock();
  EXPECT_EQ(read_run(runs_ / "a")->state, RunState::running);
  EXPECT_EQ(read_run(runs_ / "b")->state, RunState::interrupted);
}

TEST_F(Runs, DamagedFilesAreLeftOut) {
  write_file(runs_ / "c" / "run.json", "{\"configuration\": 5");
  write_file(runs_ / "a" / "summary.json", "[1,");
  write_file(runs_ / "a" / "metrics.jsonl", "{\"type\":\"epoch\",\"step\":\"ten\"}\nnothing\n");
  const std::vector<RunRecord> runs = read_runs(runs_);
  ASSERT_EQ(runs.size(), 2u);
  EXPECT_TRUE(std::isnan(best_known_accuracy(runs[0])));
  EXPECT_THROW((void)expect_run(runs_ / "c"), base::Error);
  EXPECT_THROW((void)read_runs(runs_ / "none"), base::Error);
}

TEST_F(Runs, AreFoundTwoLevelsBelow) {
  write_file(runs_ / "more" / "d" / "run.json", run_json("lenet5", 1));
  write_file(runs_ / "more" / "deep" / "e" / "run.json", run_json("lenet5", 1));
  const std::vector<RunRecord> runs = read_runs(runs_);
  ASSERT_EQ(runs.size(), 3u);
  EXPECT_EQ(runs[2].name, "d");
  EXPECT_EQ(read_runs(runs_ / "a" / "").at(0).name, "a");
}

TEST_F(Runs, AreFilteredByColumns) {
  const std::vector<RunRecord> runs = read_runs(runs_);
  EXPECT_EQ(filter_runs(runs, "model=resnet").at(0).name, "b");
  EXPECT_TRUE(filter_runs(runs, "model=resnet,state=finished").empty());
  EXPECT_THROW((void)filter_runs(runs, "modle=resnet"), base::Error);
  EXPECT_THROW((void)filter_runs(runs, "resnet"), base::Error);
}

TEST_F(Runs, AreFilteredByOptionsThatAreNoColumns) {
  write_file(runs_ / "a" / "run.json", R"({"configuration":{"model":"lenet5","seed":"2"}})");
  EXPECT_EQ(filter_runs(read_runs(runs_), "seed=2").at(0).name, "a");
  EXPECT_TRUE(filter_runs(read_runs(runs_), "seed=3").empty());
}

TEST_F(Runs, AreSortedTheBestFirstAndWithoutValueLast) {
  write_file(runs_ / "c" / "run.json", run_json("alexnet", 1));
  const std::vector<RunRecord> runs = read_runs(runs_);
  const auto names = [&](const char* column) {
    std::string all;
    for (const RunRecord& run : sort_runs(runs, column)) all += run.name;
    return all;
  };
  EXPECT_EQ(names("accuracy"), "abc");
  EXPECT_EQ(names("loss"), "abc");
  EXPECT_EQ(names("time"), "bac");
  EXPECT_EQ(names("model"), "cab");
  EXPECT_EQ(names("workers"), "acb");
}

TEST_F(Runs, TableAndJsonHaveARowEach) {
  const std::vector<RunRecord> runs = read_runs(runs_);
  const std::vector<std::string> lines = table_lines(runs);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_NE(lines[1].find("87.50 %"), std::string::npos) << lines[1];
  EXPECT_NE(lines[2].find("1.1/3"), std::string::npos) << lines[2];
  const auto json = nlohmann::json::parse(table_json(runs));
  EXPECT_EQ(json[0]["weights_sha256"], "abc");
  EXPECT_TRUE(json[1]["samples_per_second"].is_null());
}

TEST_F(Runs, StepsOfLongRunsAreThinned) {
  std::string lines;
  for (int step = 1; step <= 1000; ++step) lines += step_line(step, step);
  write_file(runs_ / "a" / "metrics.jsonl", lines);
  EXPECT_EQ(read_steps(runs_ / "a", 1000).size(), 1000u);
  const std::vector<StepRecord> some = read_steps(runs_ / "a", 100);
  EXPECT_GE(some.size(), 100u);
  EXPECT_LE(some.size(), 200u);
  for (std::size_t i = 1; i < some.size(); ++i) EXPECT_EQ(some[i].step - some[i - 1].step, some[1].step - some[0].step);
}

}  // namespace
}  // namespace trireme::watch
