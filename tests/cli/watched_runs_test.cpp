// What runs leave for those who watch them: resources of hosts and processes, tables, event files; and that trouble
// with these stops nothing.
#include <set>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

using WatchedRuns = Program;

std::vector<Json> lines_in(const fs::path& path) {
  std::vector<Json> all;
  for (const std::string& line : lines_of(read(path))) all.push_back(Json::parse(line));
  return all;
}

TEST_F(WatchedRuns, OneProcessOfAHostReportsOnIt) {
  const Json summary = trained(kSmall + Words{"--epochs", "2", "--workers", "2", "--run", "r"});
  std::set<int> ranks;
  double last = 0;
  for (const Json& line : lines_in(folder() / "r/resources.jsonl")) {
    if (line.at("rank").is_null()) {
      EXPECT_GT(line.at("seconds"), last) << "of one clock, in order";
      last = line.at("seconds");
      EXPECT_EQ(line.at("core").at("user").size(), line.at("cores"));
    } else {
      ranks.insert(line.at("rank").get<int>());
    }
  }
  EXPECT_GT(last, 0);
  EXPECT_TRUE(ranks.contains(0));
  EXPECT_EQ(summary.at("cluster").at("hosts"), 1);
}

TEST_F(WatchedRuns, StepsAndEpochsAsATable) {
  (void)trained(kSmall + Words{"--epochs", "2", "--run", "r"});
  const Outcome outcome = run({"plot", "r", "--to", "metrics.csv"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Words lines = lines_of(read(folder() / "metrics.csv"));
  EXPECT_EQ(lines.size(), 1u + 8 + 2 * 2) << "a head, steps, and a row for each set of an epoch";
  EXPECT_TRUE(lines[1].starts_with("r,step,train,1,0,")) << lines[1];
  expect_refused({"plot", "r", "--to", "metrics.csv"}, {"metrics.csv"});
}

TEST_F(WatchedRuns, EventFilesAreWrittenOnDemand) {
  (void)trained(kSmall + Words{"--epochs", "1", "--run", "a"});
  EXPECT_FALSE(fs::exists(folder() / "a/tensorboard"));
  (void)trained(kSmall + Words{"--epochs", "1", "--run", "b", "--tensorboard"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "b/tensorboard"), {}), 1);
  (void)trained({"--resume", "b", "--epochs", "2"});
  EXPECT_EQ(std::distance(fs::directory_iterator(folder() / "b/tensorboard"), {}), 2) << "one for each start";
}

TEST_F(WatchedRuns, AFullDiskForThemStopsNothing) {
  if (!fs::exists("/dev/full")) GTEST_SKIP() << "there is no /dev/full";
  const Json expected = trained(kSteady + Words{"--epochs", "2", "--run", "good"});
  (void)trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  fs::remove(folder() / "r/resources.jsonl");
  fs::create_symlink("/dev/full", folder() / "r/resources.jsonl");
  write(folder() / "r/tensorboard", "no folder");
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "2", "--tensorboard", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("resources failed"), std::string::npos) << outcome.err;
  EXPECT_NE(outcome.err.find("tensorboard failed"), std::string::npos) << outcome.err;
  EXPECT_EQ(last_json(outcome).at("weights_sha256"), expected.at("weights_sha256"));
  EXPECT_EQ(last_json(outcome).at("cluster").at("hosts"), 1) << "totals need no file";
}

}  // namespace
}  // namespace trireme::cli_test
