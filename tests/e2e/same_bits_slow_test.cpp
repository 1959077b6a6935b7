// The promise of the engine, on the real program: equal weights_sha256 for any number of threads, under any OpenMP
// setting, twice in a row, with a batch that the oars do not divide, and for a run killed at a random step and resumed.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>

#include "support/process.h"

namespace trireme::test {
namespace {

struct Case {
  const char* model;
  const char* batch;  // never a multiple of the 4 oars
  const char* checkpoint_every;
};

class SameBits : public testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (trireme_binary().empty()) GTEST_SKIP() << "TRIREME_BINARY is not set";
  }

  static std::vector<std::string> arguments(const std::string& run, const std::string& threads) {
    return {trireme_binary(), "train",     "--model",         GetParam().model,
            "--data",         "synthetic", "--batch",         GetParam().batch,
            "--oars",         "4",         "--steps",         "30",
            "--threads",      threads,     "--train-samples", "67",
            "--test-samples", "3",         "--run",           run,
            "--json",         "--quiet"};
  }

  static std::string hash_of(const Finished& finished) {
    EXPECT_EQ(finished.exit_code, 0) << finished.err;
    const auto json = nlohmann::json::parse(finished.last_line(), nullptr, false);
    return json.is_object() ? json.value("weights_sha256", "") : "";
  }

  std::string train(const std::string& threads, const std::string& omp_threads) {
    return hash_of(run_process(arguments((folder_ / ("run-" + std::to_string(++runs_))).string(), threads),
                               {"OMP_NUM_THREADS=" + omp_threads}));
  }

  TemporaryFolder folder_;
  int runs_ = 0;
};

TEST_P(SameBits, OverThreadsAndOpenMpAndRepetition) {
  const std::string expected = train("1", "1");
  ASSERT_EQ(expected.size(), 64u);
  EXPECT_EQ(train("1", "16"), expected) << "a second run, 16 OpenMP threads offered";
  EXPECT_EQ(train("2", "2"), expected) << "2 threads";
  EXPECT_EQ(train("3", "16"), expected) << "3 threads";
  EXPECT_EQ(train("4", "1"), expected) << "4 threads";
}

TEST_P(SameBits, AfterKillAndResume) {
  const std::string expected = train("1", "1");
  ASSERT_EQ(expected.size(), 64u);
  const std::string run = (folder_ / "killed").string();
  std::random_device random;
  const auto kill_at = static_cast<std::ptrdiff_t>(3 + random() % 24);
  RecordProperty("kill_at_step", static_cast<int>(kill_at));
  {
    auto with_checkpoints = arguments(run, "2");
    with_checkpoints.insert(with_checkpoints.end(), {"--checkpoint-every", GetParam().checkpoint_every});
    Process process(with_checkpoints);
    const auto deadline = std::chrono::steady_clock::now() + std::chrono::minutes(10);
    for (std::ptrdiff_t lines = 0; lines < kill_at && std::chrono::steady_clock::now() < deadline;) {
      const std::string metrics = text_of(run + "/metrics.jsonl");
      lines = std::count(metrics.begin(), metrics.end(), '\n');
    }
    process.kill(SIGKILL);
    ASSERT_EQ(process.wait(60).exit_code, 128 + SIGKILL) << "the run ended before it could be killed";
  }
  const Finished resumed =
      run_process({trireme_binary(), "train", "--resume", run, "--threads", "3", "--json", "--quiet"});
  EXPECT_EQ(hash_of(resumed), expected) << "killed after step " << kill_at << " and resumed";
  std::map<int, int> times_seen;
  std::istringstream metrics(text_of(run + "/metrics.jsonl"));
  for (std::string line; std::getline(metrics, line);) {
    const auto json = nlohmann::json::parse(line);
    if (json["type"] == "step") ++times_seen[json["step"].get<int>()];
  }
  for (int step = 1; step <= 30; ++step) EXPECT_EQ(times_seen[step], 1) << "step " << step << " in metrics.jsonl";
}

INSTANTIATE_TEST_SUITE_P(Networks, SameBits,
                         testing::Values(Case{"lenet5", "13", "4"}, Case{"resnet20-cifar", "13", "4"},
                                         Case{"densenet40-12", "13", "4"}, Case{"landcover-cnn", "5", "7"}),
                         [](const auto& test) {
                           std::string name = test.param.model;
                           std::replace(name.begin(), name.end(), '-', '_');
                           return name;
                         });

}  // namespace
}  // namespace trireme::test
