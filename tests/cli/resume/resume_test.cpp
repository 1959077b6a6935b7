// Going on with a run, starting from another one's weights, and repeating one from its record.
#include <chrono>
#include <csignal>
#include <thread>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

// The default schedule bends over the whole run; with a constant rate a run may be made longer without other bits.
class Resume : public Program {
 protected:
  Json resumed(const Words& arguments) const { return trained(Words{"--resume"} + arguments); }
  void damage(const std::string& file) const { write(folder() / file, read(folder() / file) + "x"); }
};

TEST_F(Resume, GivesTheBitsOfAnUnbrokenRun) {
  const Json whole = trained(kSteady + Words{"--epochs", "3", "--run", "whole"});
  trained(kSteady + Words{"--steps", "6", "--run", "parts"});  // the middle of the second epoch
  const Json parts = resumed({"parts", "--steps", "12"});
  EXPECT_EQ(parts["weights_sha256"], whole["weights_sha256"]);
  EXPECT_EQ(parts["train_loss"], whole["train_loss"]) << "the epoch's mean, over both parts";
  EXPECT_EQ(parts["steps"], 12);
  std::vector<std::int64_t> steps;
  for (const std::string& line : lines_of(read(folder() / "parts/metrics.jsonl")))
    if (const Json json = Json::parse(line); json["type"] == "step") steps.push_back(json["step"]);
  ASSERT_EQ(steps.size(), 12u) << "each step once";
  for (std::size_t i = 0; i < steps.size(); ++i) EXPECT_EQ(steps[i], static_cast<std::int64_t>(i) + 1);
}

TEST_F(Resume, AfterAnInterruptGivesTheSameBits) {
  const Words longer{"--model", "lenet5",         "--data", "synthetic", "--train-samples",
                     "640",     "--test-samples", "32",     "--batch",   "16"};
  const Json whole = trained(longer + Words{"--epochs", "8", "--run", "whole"});
  test::Process process(command(Words{"train"} + longer + Words{"--epochs", "8", "--run", "cut"}));
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(2);
  while (read(folder() / "cut/metrics.jsonl").empty() && std::chrono::steady_clock::now() < deadline)
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  process.kill(SIGINT);
  const test::Finished cut = process.wait(120);
  if (cut.exit_code == 0) GTEST_SKIP() << "the run was over before the interrupt";
  expect_sentence({cut.exit_code, cut.out, cut.err}, 1, {"interrupted after step", "--resume cut"});
  EXPECT_EQ(resumed({"cut"})["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(Resume, MayChangeThreadsButNothingThatMakesBits) {
  const Json whole = trained(kSteady + Words{"--epochs", "2", "--run", "whole"});
  trained(kSteady + Words{"--epochs", "1", "--run", "r"});
  for (const Words& change : {Words{"--batch", "8"}, Words{"--seed", "2"}, Words{"--oars", "4"},
                              Words{"--model", "mnist-cnn"}, Words{"--optimizer", "adam"}})
    expect_refused(Words{"train", "--resume", "r"} + change, {change[0], change[1]});
  expect_refused({"train", "--resume", "r", "--run", "other"}, {"--run", "--resume"});
  EXPECT_EQ(resumed({"r", "--epochs", "2", "--threads", "1"})["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(Resume, ADamagedCheckpointIsPassedOver) {
  const Json whole = trained(kSmall + Words{"--epochs", "2", "--run", "r"});
  damage("r/checkpoints/step-00000008/weights.safetensors");
  const Outcome outcome = run({"train", "--resume", "r", "--json"});
  EXPECT_EQ(outcome.code, 0);
  EXPECT_NE(outcome.err.find("step-00000008"), std::string::npos) << outcome.err;
  EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(Resume, DamagedCheckpointsAndRecordsAreNamed) {
  trained(kSmall + Words{"--epochs", "1", "--run", "r"});
  damage("r/checkpoints/step-00000004/weights.safetensors");
  const Outcome outcome = run({"train", "--resume", "r"});
  EXPECT_EQ(outcome.code, 2) << outcome.out << outcome.err;
  EXPECT_NE(outcome.err.find("step-00000004"), std::string::npos) << outcome.err;
  expect_refused({"eval", "--run", "r"}, {"step-00000004", "damaged"});
  expect_refused({"predict", "--run", "r"}, {"step-00000004", "damaged"});
  write(folder() / "r/checkpoints/step-00000004/state.json", "{}");
  expect_refused({"eval", "--run", "r"}, {"step-00000004", "damaged"});
  fs::remove_all(folder() / "r/checkpoints");
  expect_refused({"eval", "--run", "r"}, {"r", "no checkpoint"});
  write(folder() / "r/run.json", "{");
  expect_refused({"train", "--resume", "r"}, {"r/run.json"});
}

TEST_F(Resume, DoesNotNeedTheRunItStartedFrom) {
  trained(kSmall + Words{"--epochs", "1", "--run", "first"});
  trained(kSmall + Words{"--epochs", "1", "--init-from", "first", "--run", "second"});
  fs::remove_all(folder() / "first");
  EXPECT_EQ(resumed({"second", "--epochs", "2"})["steps"], 8);
}

TEST_F(Resume, OfAnEarlyStoppedRunGoesOnWithMorePatience) {
  const Json stopped = trained(kSmall + Words{"--epochs", "12", "--early-stopping", "1", "--run", "r"});
  ASSERT_EQ(stopped["stopped_early"], true);
  EXPECT_GT(resumed({"r", "--early-stopping", "12"})["steps"], stopped["steps"]);
}

using Record = Program;

TEST_F(Record, RepeatsTheRun) {
  const Json first = trained(kSmall + Words{"--epochs", "2", "--oars", "4", "--seed", "7", "--run", "a"});
  const Json again = trained({"--config", "a/run.json", "--run", "b"});
  EXPECT_EQ(again["weights_sha256"], first["weights_sha256"]);
  EXPECT_EQ(again["run"], "b");
  const Json other = trained({"--config", "a/run.json", "--seed", "8", "--run", "c"});
  EXPECT_NE(other["weights_sha256"], first["weights_sha256"]) << "the command line wins";
}

TEST_F(Record, OfAResumedRunRepeatsTheWhole) {
  trained(kSteady + Words{"--epochs", "1", "--run", "a"});
  const Json longer = trained({"--resume", "a", "--epochs", "2"});
  const Json again = trained({"--config", "a/run.json", "--run", "b"});
  EXPECT_EQ(again["steps"], longer["steps"]);
  EXPECT_EQ(again["weights_sha256"], longer["weights_sha256"]);
}

TEST_F(Record, TomlIsTheSameAsTheCommandLine) {
  write(folder() / "e.toml",
        "model = \"lenet5\"\ndata = \"synthetic\"\ntrain-samples = 64\ntest-samples = 32\nquiet = true\n"
        "[learning]\nbatch = 16\nepochs = 1\nclip = 0.5\n");
  const Json told = trained(kSmall + Words{"--epochs", "1", "--clip", "0.5", "--run", "a"});
  const Json read_from_file = trained({"--config", "e.toml", "--run", "b"});
  EXPECT_EQ(read_from_file["weights_sha256"], told["weights_sha256"]);
}

using Transfer = Program;

TEST_F(Transfer, TakesWhatFitsAndSaysWhatStaysFresh) {
  trained(kSmall + Words{"--epochs", "2", "--run", "a"});
  // Another number of classes: the head does not fit.
  fs::create_directory(folder() / "data");
  std::string file, names;
  for (int i = 0; i < 40; ++i)
    file += std::string{0, static_cast<char>(i)} + std::string(3072, static_cast<char>(6 * i));
  write(folder() / "data/train.bin", file);
  write(folder() / "data/test.bin", file);
  const Outcome outcome = run({"train", "--model", "lenet5", "--data", "cifar100", "--data-dir", "data", "--batch",
                               "16", "--epochs", "1", "--init-from", "a", "--run", "b"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.out.find("8 parameters"), std::string::npos) << outcome.out;
  EXPECT_NE(outcome.out.find("fc3.weight, fc3.bias"), std::string::npos) << outcome.out;
}

TEST_F(Transfer, ContinuesFromTheSameNetwork) {
  trained(kSmall + Words{"--validation", "0%", "--epochs", "4", "--run", "a"});
  const double before = last_json(run({"eval", "--run", "a", "--json"}))["accuracy"];
  // A learning rate of 0 leaves the weights it started with.
  const Json same =
      trained(kSmall + Words{"--epochs", "1", "--init-from", "a", "--optimizer", "sgd:lr=0", "--run", "b"});
  EXPECT_EQ(same["test_accuracy"], before);
  const std::string best = read(folder() / "a/checkpoints/best");
  const Json of_file =
      trained(kSmall + Words{"--epochs", "1", "--optimizer", "sgd:lr=0", "--run", "c", "--init-from",
                             "a/checkpoints/" + best.substr(0, best.size() - 1) + "/weights.safetensors"});
  EXPECT_EQ(of_file["weights_sha256"], same["weights_sha256"]);
}

TEST_F(Transfer, AnotherNetworksWeightsAreRefused) {
  trained(kSmall + Words{"--epochs", "1", "--run", "a"});
  expect_refused({"train", "--model", "mnist-cnn", "--data", "synthetic", "--train-samples", "64", "--test-samples",
                  "32", "--batch", "16", "--init-from", "a", "--run", "b"},
                 {"another network"});
  // A checkpoint that does not belong to the run it lies in.
  trained({"--model", "resnet20-cifar", "--data", "synthetic", "--train-samples", "16", "--test-samples", "8",
           "--batch", "16", "--epochs", "1", "--run", "c"});
  fs::remove_all(folder() / "a/checkpoints");
  fs::rename(folder() / "c/checkpoints", folder() / "a/checkpoints");
  expect_refused({"eval", "--run", "a"}, {"another network"});
  expect_refused({"train", "--resume", "a", "--epochs", "2"}, {"another network"});
  write(folder() / "w.safetensors", "not such a file");
  expect_refused(Words{"train"} + kSmall + Words{"--init-from", "w.safetensors", "--run", "d"}, {"w.safetensors"});
}

}  // namespace
}  // namespace trireme::cli_test
