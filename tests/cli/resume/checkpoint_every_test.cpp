// --checkpoint-every in steps, epochs and time: which checkpoints a run has, and that they never change its weights.
#include <chrono>
#include <csignal>
#include <random>
#include <thread>

#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class CheckpointEvery : public Program {
 protected:
  std::vector<int> checkpoints(const std::string& run) const {
    std::vector<int> steps;
    for (const auto& entry : fs::directory_iterator(folder() / run / "checkpoints"))
      if (const std::string name = entry.path().filename().string(); name.starts_with("step-"))
        steps.push_back(std::stoi(name.substr(5)));
    std::ranges::sort(steps);
    return steps;
  }
  // No epoch after the first is the best.
  std::vector<int> of_run(const std::string& every, const std::string& epochs) {
    const std::string run = "r" + std::to_string(++runs_);
    trained(kSteady + Words{"--epochs", epochs, "--validation", "0%", "--keep", "100", "--optimizer", "sgd:lr=1e-30",
                            "--checkpoint-every", every, "--run", run});
    return checkpoints(run);
  }

 private:
  int runs_ = 0;
};

using Steps = std::vector<int>;

TEST_F(CheckpointEvery, CountsStepsAndEpochs) {
  EXPECT_EQ(of_run("0", "3"), (Steps{4, 8, 12}));
  EXPECT_EQ(of_run("3", "3"), (Steps{3, 4, 6, 8, 9, 12})) << "a bare number is steps";
  EXPECT_EQ(of_run("3steps", "2"), (Steps{3, 4, 6, 8}));
  EXPECT_EQ(of_run("1epoch", "3"), (Steps{4, 8, 12}));
  EXPECT_EQ(of_run("2epochs", "5"), (Steps{4, 8, 16, 20})) << "the best, every second and the last";
  EXPECT_EQ(of_run("10h", "2"), (Steps{4, 8})) << "after each epoch, too";
}

TEST_F(CheckpointEvery, ATimeNeverChangesTheWeights) {
  const Words longer = kSmall + Words{"--train-samples", "4000", "--epochs", "1", "--oars", "4", "--threads", "1"};
  const Json whole = trained(longer + Words{"--run", "whole"});
  int number = 0;
  for (const Words& way : {Words{}, Words{"--workers", "3"}, Words{"--workers", "2", "--strategy", "ps"}}) {
    const std::string run = "r" + std::to_string(++number);
    const Json timed = trained(longer + way + Words{"--checkpoint-every", "0.02s", "--keep", "1000", "--run", run});
    EXPECT_EQ(timed["weights_sha256"], whole["weights_sha256"]);
    Steps steps = checkpoints(run);
    ASSERT_GT(steps.size(), 2u) << "the run is too short for this test";
    for (std::size_t i = steps.size() / 2 + 1; i < steps.size(); ++i)  // as if killed in the middle
      fs::remove_all(folder() / run / "checkpoints" / fmt::format("step-{:08d}", steps[i]));
    fs::remove(folder() / run / "summary.json");
    EXPECT_EQ(trained({"--resume", run})["weights_sha256"], whole["weights_sha256"]);
  }
}

TEST_F(CheckpointEvery, KilledAtAnyMomentARunGoesOnWithTheSameBits) {
  const Words longer = kSmall + Words{"--train-samples", "4000", "--epochs", "4", "--oars", "4", "--threads", "1"};
  const Json whole = trained(longer + Words{"--run", "whole"});
  std::mt19937 random(7);
  std::int64_t last_step = -1;
  int kills = 0;
  for (; kills < 40; ++kills) {
    const bool begins = !fs::exists(folder() / "r/run.json");
    if (begins) fs::remove_all(folder() / "r");
    test::Process process(command(
        begins ? Words{"train"} + longer + Words{"--checkpoint-every", "0.03s", "--run", "r"}
               : Words{"train", "--resume", "r", "--workers", kills % 2 == 0 ? "2" : "1", "--strategy", "allreduce"}));
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(random() % 700);
    while (std::chrono::steady_clock::now() < end) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    process.kill(SIGKILL);
    const test::Finished finished = process.wait(60);
    EXPECT_EQ(finished.err.find("damaged"), std::string::npos) << finished.err;
    const Steps steps = fs::exists(folder() / "r/checkpoints") ? checkpoints("r") : Steps{};
    if (!steps.empty()) {
      EXPECT_GE(steps.back(), last_step) << "work was lost";
      last_step = steps.back();
    }
    if (fs::exists(folder() / "r/summary.json")) break;
  }
  EXPECT_GE(kills, 1) << "the run is too short for this test";
  for (int waited = 0; waited < 50; ++waited) {  // the workers of a killed launcher may hold the run a moment longer
    const Outcome outcome = run({"train", "--resume", "r", "--json"});
    if (outcome.err.find("another process") != std::string::npos) continue;
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    EXPECT_EQ(last_json(outcome)["weights_sha256"], whole["weights_sha256"]);
    break;
  }
}

TEST_F(CheckpointEvery, SomethingElseIsRefused) {
  for (const char* every : {"10m", "1.5", "-5", "", "abc", "1e3", "2.5epochs", "5 s", "1.2.3s", "99999999999h", "h",
                            "99999999999999999999", "5minutes"})
    expect_refused(Words{"train"} + kSmall + Words{"--run", "r", "--checkpoint-every", every},
                   {"--checkpoint-every", every, "10min"});
  expect_refused(Words{"train"} + kSmall +
                     Words{"--run", "r", "--workers", "2", "--strategy", "local", "--checkpoint-every", "1h"},
                 {"--checkpoint-every 1h", "local", "steps"});
}

}  // namespace
}  // namespace trireme::cli_test
