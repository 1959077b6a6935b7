// Failures while running: exit code 1, one sentence, and a folder that holds nothing half-written.
#include <sys/mount.h>

#include <cmath>
#include <fstream>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

using Failure = Program;

TEST_F(Failure, ALossThatIsNoNumberNamesTheStepAndKeepsTheCheckpoints) {
  // Two good epochs of 4 steps, then a rate that no float survives.
  const Outcome outcome =
      train({"--epochs", "6", "--optimizer", "sgd:lr=0.05", "--schedule", "step:2=1e38", "--run", "r"});
  expect_sentence(outcome, 1, {"loss", "nan", "step", "learning rate"});
  EXPECT_TRUE(fs::exists(folder() / "r/checkpoints/step-00000008/weights.safetensors"));
  EXPECT_FALSE(fs::exists(folder() / "r/summary.json")) << "the run is not finished";
  const Json good = last_json(run({"eval", "--run", "r", "--json"}));
  EXPECT_TRUE(good["loss"].is_number()) << good;
}

// One step an epoch: the weights go bad before the loss of a step shows it.
TEST_F(Failure, WeightsThatAreNoNumbersDoNotBecomeACheckpoint) {
  const Outcome outcome =
      run({"train", "--model", "lenet5", "--data", "synthetic", "--train-samples", "64", "--test-samples", "32",
           "--batch", "64", "--epochs", "6", "--optimizer", "sgd:lr=1e38", "--run", "r"});
  EXPECT_EQ(outcome.code, 1) << outcome.out;
  const Outcome evaluated = run({"eval", "--run", "r", "--checkpoint", "last", "--json"});
  if (evaluated.code == 2) return;  // there is none
  EXPECT_TRUE(last_json(evaluated)["loss"].is_number()) << evaluated.out;
}

TEST_F(Failure, NoCheckpointIsNamedThatIsNotThere) {
  const Outcome outcome = train({"--epochs", "2", "--optimizer", "sgd:lr=1e38", "--run", "r"});
  expect_sentence(outcome, 1, {"step"});
  ASSERT_FALSE(fs::exists(folder() / "r/checkpoints")) << "it failed in its first epoch";
  EXPECT_EQ(outcome.err.find("checkpoint is kept"), std::string::npos) << outcome.err;
}

// A file system of its own, unmounted at the end.
class Small {
 public:
  Small(const fs::path& place, const char* size) : place_(place) {
    fs::create_directory(place);
    mounted_ = ::mount("tmpfs", place.c_str(), "tmpfs", 0, size) == 0;
  }
  ~Small() {
    if (mounted_) ::umount2(place_.c_str(), MNT_DETACH);
  }
  Small(const Small&) = delete;
  Small& operator=(const Small&) = delete;
  bool mounted() const { return mounted_; }

 private:
  fs::path place_;
  bool mounted_ = false;
};

TEST_F(Failure, AFullDiskLeavesNoPart) {
  const Small disk(folder() / "disk", "size=64k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not permitted here";
  const Outcome outcome = train({"--epochs", "2", "--run", "disk/r"});
  expect_sentence(outcome, 1,
                  {"disk/r", "No space left", "free at least", "in disk/r, which has", "KB for a checkpoint"});
  EXPECT_NE(outcome.out.find("note: disk/r has"), std::string::npos) << "said before the work is lost\n" << outcome.out;
  for (const std::string& entry : snapshot()) {
    EXPECT_EQ(entry.find(".partial"), std::string::npos) << entry;
    EXPECT_EQ(entry.find("safetensors"), std::string::npos) << entry;
  }
}

TEST_F(Failure, ADiskThatFillsLaterKeepsTheOlderCheckpointAndTheRunGoesOn) {
  const Small disk(folder() / "disk", "size=640k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not permitted here";
  const Json whole = trained(kSmall + Words{"--epochs", "2", "--run", "whole"});
  expect_sentence(train({"--epochs", "2", "--run", "disk/r"}), 1, {"disk/r", "No space left"});
  EXPECT_TRUE(fs::exists(folder() / "disk/r/checkpoints/step-00000004/state.json"));
  fs::copy(folder() / "disk/r", folder() / "r", fs::copy_options::recursive);
  EXPECT_EQ(trained({"--resume", "r"})["weights_sha256"], whole["weights_sha256"]);
}

// The first of the files does not find room: there is nothing to resume.
TEST_F(Failure, ADiskThatIsFullAtTheStartSaysWhatToFree) {
  const Small disk(folder() / "disk", "size=8k");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not permitted here";
  const Outcome outcome = train({"--epochs", "2", "--run", "disk/r"});
  expect_sentence(outcome, 1, {"disk/r", "No space left", "free at least", "in disk/r"});
  EXPECT_EQ(outcome.err.find("--resume"), std::string::npos) << outcome.err;
  EXPECT_FALSE(fs::exists(folder() / "disk/r"));
}

TEST_F(Failure, ADiskThatIsFullAtTheEndKeepsTheRun) {
  const Small disk(folder() / "disk", "size=4m");
  if (!disk.mounted()) GTEST_SKIP() << "mounting a small file system is not permitted here";
  const Json whole = trained(kSmall + Words{"--epochs", "2", "--run", "disk/r"});
  fs::remove(folder() / "disk/r/summary.json");  // as if killed just before it was written
  {
    std::ofstream filler(folder() / "disk/filler");
    while (filler << 'x' << std::flush) {
    }
  }
  const std::string before = read(folder() / "disk/r/run.json");
  expect_sentence(run({"train", "--resume", "disk/r"}), 1, {"No space left", "free at least", "--resume disk/r"});
  EXPECT_EQ(read(folder() / "disk/r/run.json"), before);
  fs::remove(folder() / "disk/filler");
  EXPECT_EQ(trained({"--resume", "disk/r"})["weights_sha256"], whole["weights_sha256"]);
  EXPECT_TRUE(fs::exists(folder() / "disk/r/summary.json"));
}

}  // namespace
}  // namespace trireme::cli_test
