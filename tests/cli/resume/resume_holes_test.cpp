// What can go wrong between two processes of one run: other data, other kernels, damaged or missing checkpoints, a
// second process, a run that ended within an epoch.
#include <chrono>
#include <csignal>
#include <functional>
#include <thread>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class ResumeHoles : public Program {
 protected:
  Json resumed(const Words& arguments) const { return trained(Words{"--resume"} + arguments); }
  // Changes run.json as if the run had begun elsewhere; without a checksum, as older versions wrote it.
  void falsify(const std::string& run, const std::function<void(Json&)>& change) const {
    Json json = Json::parse(read(folder() / run / "run.json"));
    json.erase("checksum");
    change(json);
    write(folder() / run / "run.json", json.dump());
  }
};

TEST_F(ResumeHoles, OtherDataIsRefused) {
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  falsify("r", [](Json& json) { json["data_hash"] = "0123456789abcdef"; });
  expect_refused({"train", "--resume", "r", "--epochs", "2"}, {"data", "--data-dir"});
}

TEST_F(ResumeHoles, OtherBitsAreAllowedOnlyForOneTime) {
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  const auto other_machine = [](Json& json) { json["fingerprint"][0]["hash"] = "0000000000000000"; };
  falsify("r", other_machine);
  resumed({"r", "--epochs", "2", "--allow-other-bits"});
  falsify("r", other_machine);
  expect_refused({"train", "--resume", "r", "--epochs", "3"}, {"--allow-other-bits"});
}

TEST_F(ResumeHoles, WithoutACheckpointStartsFromTheSameWeights) {
  trained(kSteady + Words{"--epochs", "1", "--run", "first"});
  const Json whole = trained(kSteady + Words{"--epochs", "1", "--init-from", "first", "--seed", "2", "--run", "a"});
  fs::remove_all(folder() / "a/checkpoints");
  EXPECT_EQ(resumed({"a"})["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(ResumeHoles, ADamagedLaterCheckpointDoesNotPushOutANewOne) {
  trained(kSteady + Words{"--steps", "8", "--checkpoint-every", "2", "--keep", "3", "--run", "r"});
  write(folder() / "r/checkpoints/step-00000008/weights.safetensors", "damaged");
  const Json summary = resumed({"r", "--steps", "7", "--keep", "1"});
  EXPECT_EQ(summary["steps"], 7);
  EXPECT_TRUE(fs::exists(folder() / "r/checkpoints/step-00000007")) << "the newest checkpoint is kept";
  EXPECT_FALSE(fs::exists(folder() / "r/checkpoints/step-00000008"));
}

TEST_F(ResumeHoles, AStateThatLacksSomethingIsDamage) {
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  const fs::path state = folder() / "r/checkpoints/step-00000004/state.json";
  Json json = Json::parse(read(state));
  json["extra"]["train"].erase("epoch_loss");
  json.erase("checksum");
  write(state, json.dump());
  const Outcome outcome = run({"train", "--resume", "r", "--epochs", "2"});
  expect_sentence(outcome, 2, {"step-00000004", "damaged"});
}

TEST_F(ResumeHoles, ASecondProcessIsKeptOut) {
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  const std::size_t before = lines_of(read(folder() / "r/metrics.jsonl")).size();
  test::Process first(command(Words{"train", "--resume", "r", "--epochs", "2000"}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(1);
  while (lines_of(read(folder() / "r/metrics.jsonl")).size() < before + 4 &&
         std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  const Outcome second = run({"train", "--resume", "r", "--epochs", "3"});
  first.kill(SIGKILL);
  first.wait(60);
  expect_sentence(second, 2, {"another process", "r"});
}

TEST_F(ResumeHoles, AnEpochThatTwoProcessesShareIsReportedOnce) {
  trained(kSteady + Words{"--steps", "6", "--run", "r"});
  resumed({"r", "--steps", "8"});
  std::vector<std::int64_t> epochs;
  for (const std::string& line : lines_of(read(folder() / "r/metrics.jsonl")))
    if (const Json json = Json::parse(line); json["type"] == "epoch") epochs.push_back(json["epoch"]);
  EXPECT_EQ(epochs, (std::vector<std::int64_t>{0, 1}));
}

TEST_F(ResumeHoles, TheSummaryBelongsToTheLastProcess) {
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  resumed({"r", "--epochs", "2"});
  EXPECT_EQ(Json::parse(read(folder() / "r/summary.json"))["steps"], 8);
  fs::remove(folder() / "r/summary.json");  // as if killed just before it was written
  resumed({"r"});
  EXPECT_EQ(Json::parse(read(folder() / "r/summary.json"))["steps"], 8);
}

using Targets = Program;

TEST_F(Targets, LabelsAndValuesAreLearned) {
  const Words longer{"--train-samples", "512", "--epochs", "4"};
  const Json labels = trained(kSmall + longer + Words{"--target", "labels", "--run", "labels"});
  EXPECT_GT(labels["test_accuracy"], 0.7) << "the share of labels that are right; 0.5 is chance";
  const Json values = trained(kSmall + longer + Words{"--target", "values", "--run", "values"});
  EXPECT_TRUE(values["test_accuracy"].is_null());
  const Json start =
      trained(kSmall + Words{"--train-samples", "512", "--steps", "1", "--target", "values", "--run", "v"});
  EXPECT_LT(values["test_loss"], 0.7 * start["test_loss"].get<double>());
  expect_refused(Words{"train", "--data", "fashion-mnist", "--target", "labels"},
                 {"--target", "fashion-mnist", "classes"});
}

TEST_F(Targets, OutputThatCannotBeWrittenIsAFailure) {
  trained(kSmall + Words{"--epochs", "1", "--run", "r"});
  Words words = command({"predict", "--run", "r"});
  std::string line;
  for (const std::string& word : words) line += "'" + word + "' ";
  const test::Finished full = test::run_process({"sh", "-c", line + "> /dev/full"});
  EXPECT_EQ(full.exit_code, 1);
  EXPECT_NE(full.err.find("standard output"), std::string::npos) << full.err;
}

}  // namespace
}  // namespace trireme::cli_test
