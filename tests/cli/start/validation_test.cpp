// On which samples a run chooses its best weights: never on the set it reports, unless that is asked for.
#include <map>

#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

class ValidationShare : public OwnFiles {
 protected:
  // Classes 0, 1 and 2 with 80, 60 and 20 pictures for training and 5 each for testing.
  void SetUp() override {
    OwnFiles::SetUp();
    if (IsSkipped()) return;
    const std::vector<int> samples{80, 60, 20};
    for (int c = 0; c < 3; ++c)
      for (int i = 0; i < samples[static_cast<std::size_t>(c)] + 5; ++i) {
        const fs::path in =
            folder() / "shapes" / (i < 5 ? "test" : "train") / std::string(1, static_cast<char>('a' + c));
        fs::create_directories(in);
        write(in / (std::to_string(i) + ".png"), photo(c, i));
      }
  }
  Json run_json(const std::string& run) const { return Json::parse(read(folder() / run / "run.json")); }

  const Words own_{"--model", "mnist-cnn", "--data", "shapes", "--batch", "16"};
};

TEST_F(ValidationShare, OfAFolderATenthOfEachClass) {
  const Outcome outcome = run(Words{"train"} + own_ + Words{"--epochs", "2", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("16 of 160 training samples are kept apart"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("chosen on the validation set"), std::string::npos) << outcome.out;
  EXPECT_EQ(run_json("r")["configuration"]["validation"], "10%:stratified");
  const Json report = last_json(run({"eval", "--run", "r", "--split", "validation", "--json"}));
  EXPECT_EQ(report["weights"], "best");
  std::map<std::string, int> kept;
  for (const Json& each : report["per_class"]) kept[each["class"]] = each["samples"];
  EXPECT_EQ(kept, (std::map<std::string, int>{{"a", 8}, {"b", 6}, {"c", 2}}));
  const Json best = Json::parse(read(folder() / "r/summary.json"))["best"];
  EXPECT_EQ(best["chosen_on"], "validation");
  EXPECT_TRUE(best["step"] == 9 || best["step"] == 18) << best;
}

TEST_F(ValidationShare, OfANamedDatasetNothingAndTheLastWeightsCount) {
  const Outcome outcome = train({"--epochs", "2", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(outcome.out.find("best"), std::string::npos) << outcome.out;
  EXPECT_FALSE(fs::exists(folder() / "r/checkpoints/best"));
  EXPECT_EQ(run_json("r")["configuration"]["validation"], "none");
  EXPECT_TRUE(Json::parse(read(folder() / "r/summary.json"))["best"].is_null());
  const Json report = last_json(run({"eval", "--run", "r", "--json"}));
  EXPECT_EQ(report["weights"], "last");
  expect_refused({"eval", "--run", "r", "--checkpoint", "best"}, {"r", "--checkpoint last"});
  expect_refused({"train", "--resume", "r", "--epochs", "4", "--early-stopping", "2"}, {"--early-stopping", "none"});
}

TEST_F(ValidationShare, TheTestSetOnlyWhenAskedForAndSaid) {
  const Outcome outcome = train({"--epochs", "2", "--validation", "0%", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("note: with --validation 0% the best weights are chosen on the test set"),
            std::string::npos)
      << outcome.out;
  EXPECT_NE(outcome.out.find("chosen on the test set itself"), std::string::npos) << outcome.out;
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--json"}))["weights"], "best");
}

TEST_F(ValidationShare, ResumesWithTheSameSamples) {
  const Words steady = own_ + Words{"--schedule", "constant"};
  const Json whole = trained(steady + Words{"--epochs", "2", "--run", "whole"});
  trained(steady + Words{"--epochs", "1", "--run", "r"});
  for (const Words& more : {Words{}, Words{"--validation", "10%"}, Words{"--validation", "auto"}}) {
    const Outcome outcome = run(Words{"train", "--resume", "r", "--epochs", "2", "--json"} + more);
    ASSERT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
  }
  expect_refused({"train", "--resume", "r", "--epochs", "3", "--validation", "20%"}, {"--validation", "20%"});
}

// A run.json of an older version records a share without the way of drawing it, and has no checksum here.
TEST_F(ValidationShare, ARunOfAnOlderVersionKeepsItsSamples) {
  const Words steady = own_ + Words{"--schedule", "constant"};
  const Json whole = trained(steady + Words{"--validation", "10%:random", "--epochs", "2", "--run", "whole"});
  trained(steady + Words{"--validation", "10%:random", "--epochs", "1", "--run", "r"});
  Json old = run_json("r");
  old["configuration"]["validation"] = "10%";
  old.erase("checksum");
  write(folder() / "r/run.json", old.dump());
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "2", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
  write(folder() / "old.json", old.dump());
  EXPECT_EQ(trained({"--config", "old.json", "--epochs", "2", "--run", "again"})["weights_sha256"],
            whole["weights_sha256"]);
}

}  // namespace
}  // namespace trireme::cli_test
