// Jobs that mpirun starts, which says how many processes there are.
#include "support/mpirun.h"
#include "e2e/strategies.h"

namespace trireme::test {
namespace {

const Arguments kUnderMpirun =
    words("--model lenet5 --data synthetic --train-samples 90 --test-samples 20 --batch 32 --oars 8 --threads 1");

class UnderMpirun : public Strategies {
 protected:
  void SetUp() override {
    Strategies::SetUp();
    if (IsSkipped()) return;
    if (run_process({"mpirun", "--version"}).exit_code != 0) GTEST_SKIP() << "mpirun is missing (openmpi-bin)";
  }
  static Finished mpirun(int world, const Arguments& options) {
    return run_process(
        Arguments{"mpirun", "-n", std::to_string(world), "--oversubscribe", "--bind-to", "none"} + command(options),
        mpirun_environment(), kDeadlineSeconds);
  }
  // The number of workers that a strategy finds in so many processes, and the bits of one process.
  void expect_workers(int world, const std::string& options, int workers) {
    const Finished finished =
        mpirun(world, kUnderMpirun + words(options) + Arguments{"--epochs", "1", "--run", new_folder()});
    EXPECT_EQ(finished.exit_code, 0) << options << ": " << finished.err;
    const Json summary = Json::parse(finished.last_line(), nullptr, false);
    ASSERT_TRUE(summary.is_object()) << finished.out << finished.err;
    EXPECT_EQ(summary.at("workers"), workers) << options;
    if (expected_.empty())
      expected_ = summary_of(train(kUnderMpirun + Arguments{"--epochs", "1", "--run", new_folder()}))["weights_sha256"];
    EXPECT_EQ(summary.at("weights_sha256"), expected_) << options;
  }

 private:
  std::string expected_;
};

TEST_F(UnderMpirun, WorkersAreWhatServersLeave) {
  expect_workers(3, "--strategy ps:mode=sync --servers 2 --server-place worker", 3);
  expect_workers(3, "--strategy ps:mode=sync --server-place worker", 3);
  expect_workers(4, "--strategy ps:mode=sync --servers 2", 2);
  expect_workers(3, "--strategy ps:mode=sync", 2);
  expect_workers(2, "--strategy allreduce", 2);
}

TEST_F(UnderMpirun, ServersLeaveSomebodyToWork) {
  const Finished finished =
      mpirun(2, kUnderMpirun + words("--strategy ps:mode=sync --servers 2") + Arguments{"--run", new_folder()});
  EXPECT_NE(finished.exit_code, 0);
  EXPECT_NE(finished.err.find("2 servers leave no process for a worker"), std::string::npos) << finished.err;
}

}  // namespace
}  // namespace trireme::test
