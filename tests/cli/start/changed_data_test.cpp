// Data of one's own that has changed, and data that hints at a mistake.
#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

class ChangedData : public OwnFiles {
 protected:
  // x, y -> class; the header and `rows` lines from `first` on.
  void write_table(const std::string& name, int first, int rows, bool with_target = true) const {
    std::string text = with_target ? "x,y,kind\n" : "x,y\n";
    for (int i = first; i < first + rows; ++i) {
      text += std::to_string(i % 7) + "," + std::to_string(i % 5);
      text += with_target ? (i % 7 > 3 ? ",high\n" : ",low\n") : "\n";
    }
    write(folder() / name, text);
  }
  Json trained_on(const std::string& data, const Words& more = {}) const {
    return trained(Words{"--model", "mlp:hidden=8", "--data", data, "--epochs", "2", "--batch", "16", "--run", "r"} +
                   more);
  }
  Outcome predicted(const std::string& data) const { return run({"predict", "--run", "r", "--data", data}); }
};

TEST_F(ChangedData, ItsTestSamplesAreNotTakenFromTheTrainingSet) {
  write_table("t.csv", 0, 200);
  trained_on("./t.csv");
  EXPECT_EQ(run({"eval", "--run", "r"}).code, 0);
  write_table("t.csv", 0, 207);
  const Outcome outcome = run({"eval", "--run", "r"});
  expect_sentence(outcome, 2, {"t.csv", "has changed", "144 training, 16 validation, 40 test samples"});
  EXPECT_EQ(lines_of(predicted("./t.csv").out).size(), 208u) << "all rows of a file that is named";
}

TEST_F(ChangedData, AFileThatIsNamedIsPredictedWhole) {
  write_table("t.csv", 0, 200);
  trained_on("./t.csv");
  EXPECT_EQ(lines_of(predicted("./t.csv").out).size(), 201u);
  EXPECT_EQ(lines_of(run({"predict", "--run", "r"}).out).size(), 41u);
}

TEST_F(ChangedData, OtherDataNeedsNoValidationSetAfterEarlyStopping) {
  write_table("t.csv", 0, 200);
  write_table("u.csv", 3, 20);
  trained_on("./t.csv", {"--early-stopping", "3"});
  const Outcome outcome = run({"eval", "--run", "r", "--data", "./u.csv", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(last_json(outcome)["samples"], 20);
}

TEST_F(ChangedData, ATestTableWithoutTargetsIsToBePredicted) {
  write_table("train.csv", 0, 200);
  write_table("test.csv", 0, 30, false);
  const Outcome outcome = run(
      {"train", "--model", "mlp:hidden=8", "--data", "./train.csv", "--epochs", "1", "--batch", "16", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("test.csv has no target column"), std::string::npos) << outcome.out;
  EXPECT_EQ(run({"eval", "--run", "r"}).code, 0);
  EXPECT_EQ(lines_of(predicted("./test.csv").out).size(), 31u);
}

TEST_F(ChangedData, AnEmptyTargetColumnIsNotRead) {
  write_table("t.csv", 0, 200);
  trained_on("./t.csv");
  write(folder() / "form.csv", "x,y,kind\n1,2,\n3,4,\n");
  const Outcome outcome = predicted("./form.csv");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).size(), 3u);
  EXPECT_NE(outcome.err.find("not read"), std::string::npos) << outcome.err;
}

TEST_F(ChangedData, HintsOfMistakes) {
  std::string stamps = "time,y\n", prices = "x,price\n", one = "x,y\n";
  for (int i = 0; i < 200; ++i) {
    stamps += std::to_string(1700000000 + i) + "," + std::to_string(i % 2) + "\n";
    prices += std::to_string(i % 13) + "," + std::to_string(1000 + i) + "\n";
    one += std::to_string(i) + ",only\n";
  }
  write(folder() / "stamps.csv", stamps);
  write(folder() / "prices.csv", prices);
  write(folder() / "one.csv", one);
  const Words plain{"train", "--model", "mlp:hidden=4", "--steps", "1"};
  const Outcome rounded = run(plain + Words{"--data", "./stamps.csv"});
  EXPECT_NE(rounded.out.find("column 'time' has values around 1.7e+09, which float32 keeps in steps of 128"),
            std::string::npos)
      << rounded.out;
  const Outcome many = run(plain + Words{"--data", "./prices.csv"});
  EXPECT_NE(many.out.find("--target values"), std::string::npos) << many.out;
  expect_sentence(run(plain + Words{"--data", "./one.csv"}), 2, {"one class", "only"});
}

TEST_F(ChangedData, EmptyNamesAndMissingFiles) {
  expect_refused({"train", "--resume", ""}, {"--resume", "empty"});
  expect_refused({"train", "--config", ""}, {"--config", "empty"});
  expect_refused({"data", "info", "--data", "nosuch"}, {"nosuch", "nor", "file or folder"});
}

TEST_F(ChangedData, AsManySamplesButOthersAreSeen) {
  write_table("t.csv", 0, 200);
  trained_on("./t.csv");
  write_table("t.csv", 3, 200);
  expect_sentence(run({"eval", "--run", "r"}), 2, {"t.csv", "has changed", "as many samples, but others"});
}

TEST_F(ChangedData, LayersThatAreFrozenAtRandomAreNamed) {
  write_table("t.csv", 0, 200);
  trained(Words{"--model", "mlp:hidden=8x4", "--data", "./t.csv", "--epochs", "1", "--run", "r"});
  const Outcome outcome = run({"train", "--model", "mlp:hidden=8x6", "--data", "./t.csv", "--epochs", "1",
                               "--init-from", "r", "--freeze", "all-but:fc3", "--run", "s"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("frozen at a random start, because the other weights do not fit: fc2.weight, fc2.bias;"),
            std::string::npos)
      << outcome.out;
}

}  // namespace
}  // namespace trireme::cli_test
