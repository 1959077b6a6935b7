// trireme runs, plot and diff: looking at the run folders of real runs.
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class RunVerbs : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    (void)trained(kSmall + Words{"--epochs", "2", "--run", "runs/a"});
    (void)trained(kSmall + Words{"--epochs", "2", "--run", "runs/b", "--threads", "1"});
    (void)trained(kSmall + Words{"--epochs", "2", "--run", "runs/c", "--seed", "2"});
  }
};

TEST_F(RunVerbs, RunsAreListed) {
  const Outcome table = run({"runs"});
  ASSERT_EQ(table.code, 0) << table.err;
  const Words lines = lines_of(table.out);
  ASSERT_EQ(lines.size(), 4u);
  EXPECT_TRUE(lines[1].starts_with("a ")) << lines[1];
  EXPECT_NE(lines[1].find(" 2/2 "), std::string::npos) << lines[1];
  EXPECT_NE(lines[1].find("finished"), std::string::npos) << lines[1];
  const Json filtered = last_json(run({"runs", "runs", "--filter", "seed=2", "--json"}));
  ASSERT_EQ(filtered.size(), 1u);
  EXPECT_EQ(filtered[0]["run"], "runs/c");
  EXPECT_EQ(filtered[0]["steps"], 8);
  EXPECT_EQ(lines_of(run({"runs", "--sort", "started"}).out).size(), 4u);
}

TEST_F(RunVerbs, DifferencesAreNamed) {
  const Json same = last_json(run({"diff", "runs/a", "runs/b", "--json"}));
  EXPECT_EQ(same["options"]["threads"]["b"], "1");
  EXPECT_EQ(same["options"].size(), 1u);
  EXPECT_EQ(same["common_steps"], 8);
  EXPECT_EQ(same["first_different_loss"], 0);
  EXPECT_EQ(same["common_checkpoints"], 2);
  EXPECT_EQ(same["first_different_checkpoint"], 0);
  const Json other = last_json(run({"diff", "runs/a", "runs/c", "--json"}));
  EXPECT_EQ(other["options"]["seed"]["b"], "2");
  EXPECT_EQ(other["first_different_loss"], 1);
  EXPECT_EQ(other["first_different_checkpoint"], 4);
  const Outcome text = run({"diff", "runs/a", "runs/c"});
  EXPECT_NE(text.out.find("losses: different from step 1 on"), std::string::npos) << text.out;
}

TEST_F(RunVerbs, CurvesAreDrawn) {
  const Outcome outcome = run({"plot", "runs/a", "runs/c", "--values", "loss,lr", "--log", "--to", "curves.svg"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const std::string svg = read(folder() / "curves.svg");
  EXPECT_TRUE(svg.starts_with("<svg ")) << svg.substr(0, 80);
  EXPECT_TRUE(svg.ends_with("</svg>\n"));
  EXPECT_NE(svg.find(">a, training<"), std::string::npos);
  EXPECT_NE(svg.find(">c, test<"), std::string::npos);
}

TEST_F(RunVerbs, MistakesAreNamed) {
  write(folder() / "there.svg", "a picture");
  expect_refused({"runs", "nowhere"}, {"nowhere", "name a folder"});
  expect_refused({"runs", "--filter", "modle=lenet5"}, {"modle", "model"});
  expect_refused({"runs", "--sort", "size"}, {"size", "accuracy"});
  expect_refused({"runs", "a", "b"}, {"b"});
  expect_refused({"plot"}, {"which runs"});
  expect_refused({"plot", "runs/a"}, {"--to"});
  expect_refused({"plot", "runs/a", "--to", "there.svg"}, {"there.svg"});
  expect_refused({"plot", "runs/a", "--to", "curves.png"}, {".svg"});
  expect_refused({"plot", "runs/a", "--to", "new.svg", "--values", "los"}, {"los", "loss"});
  expect_refused({"plot", "runs/a", "--to", "new.svg", "--x", "hours"}, {"hours", "time"});
  expect_refused({"diff", "runs/a"}, {"which two runs"});
  expect_refused({"diff", "runs/a", "runs"}, {"runs", "run folder"});
}

}  // namespace
}  // namespace trireme::cli_test
