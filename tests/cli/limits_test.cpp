// Limits of the system on memory, threads and file sizes, and numbers that are far too large: one sentence, never an
// internal error or a signal.
#include <fmt/format.h>

#include "cli/program.h"
#include "support/as_nobody.h"

namespace trireme::cli_test {
namespace {

class Limits : public Program {
 protected:
  // The program under `prlimit OPTION`.
  Outcome limited(const std::string& option, const Words& arguments) const {
    Words words = command(arguments);
    words.insert(words.begin(), {"prlimit", option});
    const test::Finished finished = test::run_process(words, {}, 120);
    EXPECT_FALSE(finished.timed_out) << option << finished.err;
    return {finished.exit_code, finished.out, finished.err};
  }
  // It succeeds, or fails with one sentence; whether it failed.
  static bool fails_well(const Outcome& outcome, const std::string& limit, const Words& sayings) {
    if (outcome.code == 0) return false;
    SCOPED_TRACE(limit);
    EXPECT_LE(outcome.code, 2) << outcome.err;
    EXPECT_EQ(outcome.err.find("internal error"), std::string::npos) << outcome.err;
    EXPECT_EQ(outcome.err.find("std::"), std::string::npos) << outcome.err;
    EXPECT_NE(outcome.err.find("trireme: "), std::string::npos) << outcome.err;
    for (const std::string& saying : sayings)
      EXPECT_NE(outcome.err.find(saying), std::string::npos) << saying << " is not in: " << outcome.err;
    return true;
  }
};

TEST_F(Limits, OfAFilesSize) {
  const Outcome outcome = limited("--fsize=100000", Words{"train"} + kSmall + Words{"--epochs", "1", "--run", "r"});
  expect_sentence(outcome, 1, {"weights.safetensors", "File too large", "--resume r"});
}

TEST_F(Limits, OfThreads) {
  use_copy_of_program();
  test::as_nobody(folder(), [&] {
    const auto expect = [&](const Words& processes, int first, int last, const Words& sayings) {
      int failures = 0;
      for (int most = first; most <= last; ++most) {
        const std::string option = fmt::format("--nproc={0}:{0}", most);
        fs::remove_all(folder() / "r");
        const Outcome outcome = limited(option, Words{"train", "--run", "r"} + kSmall + processes);
        EXPECT_EQ(outcome.err.find("SIGABRT"), std::string::npos) << outcome.err;
        failures += fails_well(outcome, option, sayings) ? 1 : 0;
      }
      EXPECT_GT(failures, 0) << "the limit was never felt";
    };
    expect({"--threads", "2"}, 2, 9, {"threads"});
    // Where servers and workers have threads for each other.
    expect({"--threads", "1", "--workers", "2", "--strategy", "ps", "--server-place", "worker", "--servers", "2"}, 16,
           22, {});
  });
}

TEST_F(Limits, OfMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "sanitizers need all of the address space";
#endif
  // From little more than the program's shared libraries take to enough for this run.
  int failures = 0;
  bool has_failed = false;
  for (int megabytes = 80; megabytes <= 200; megabytes += 4) {
    const std::string limit = fmt::format("--as={}", std::int64_t{megabytes} << 20);
    const Words words =
        Words{"train"} + kSmall + Words{"--epochs", "1", "--threads", "2", "--run", fmt::format("r{}", megabytes)};
    has_failed = fails_well(limited(limit, words), limit, {});
    failures += has_failed ? 1 : 0;
  }
  EXPECT_GT(failures, 0) << "the limit was never felt";
  EXPECT_FALSE(has_failed) << "the last limit is more than the run needs";
}

TEST_F(Limits, OfSamples) {
  expect_refused({"train", "--model", "lenet5", "--data", "synthetic", "--train-samples", "99999999999"},
                 {"99999999999", "at most 1000000000"});
  expect_refused({"train", "--model", "lenet5", "--data", "synthetic", "--test-samples", "99999999999"},
                 {"99999999999", "at most 1000000000"});
  fs::create_directory(folder() / "data");
  std::string file;
  for (int i = 0; i < 40; ++i) file += std::string{0, static_cast<char>(i)} + std::string(3072, static_cast<char>(i));
  write(folder() / "data/train.bin", file);
  write(folder() / "data/test.bin", file);
  const Words real{"train", "--model", "lenet5", "--data", "cifar100", "--data-dir", "data", "--batch", "16"};
  expect_refused(real + Words{"--train-samples", "41"}, {"--train-samples", "41", "cifar100", "40"});
  expect_refused(real + Words{"--test-samples", "99999999999"}, {"--test-samples", "99999999999", "40"});
  // A run of an older version may have asked for more than there are.
  trained({"--model", "lenet5", "--data", "cifar100", "--data-dir", "data", "--batch", "16", "--epochs", "1", "--run",
           "r"});
  Json json = Json::parse(read(folder() / "r/run.json"));
  json["configuration"]["train-samples"] = "50000";
  json.erase("checksum");
  write(folder() / "r/run.json", json.dump());
  EXPECT_EQ(trained({"--resume", "r", "--epochs", "2"})["epochs"], 2);
}

// The network's own batch may be more than a small dataset has; one that was asked for is refused (bad_inputs).
TEST_F(Limits, OfTheDefaultBatch) {
  const Words small{"--model",        "lenet5", "--data",  "synthetic", "--train-samples", "40",
                    "--test-samples", "8",      "--steps", "2",         "--schedule",      "constant"};
  const Outcome outcome = run(Words{"train"} + small + Words{"--run", "r", "--json"});
  EXPECT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE(outcome.err.find("note: the training set has 40 samples, fewer than the batch of"), std::string::npos)
      << outcome.err;
  EXPECT_EQ(last_json(outcome)["batch"], 8);
  // The same when it goes on, and the same bits as with that batch.
  const Json resumed = trained({"--resume", "r", "--steps", "4"});
  const Json asked = trained(small + Words{"--batch", "8", "--steps", "4", "--run", "s"});
  EXPECT_EQ(resumed["weights_sha256"], asked["weights_sha256"]);
  for (const char* samples : {"3", "1"}) {
    const Json tiny = trained(small + Words{"--train-samples", samples, "--run", std::string("t") + samples});
    EXPECT_EQ(tiny["batch"], 1) << samples;
  }
}

}  // namespace
}  // namespace trireme::cli_test
