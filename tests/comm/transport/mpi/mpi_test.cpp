// The transport `mpi`: ranks that mpirun starts pass the tests of the other transports, take next to nothing of a core
// while they wait, and end together when one of them does.
#include <gtest/gtest.h>

#include "base/system/beside_program.h"
#include "base/system/clock.h"
#include "comm/transport/mpi/mpi_calls.h"
#include "support/mpirun.h"
#include "support/process.h"

namespace trireme::comm {
namespace {

constexpr double kDeadlineSeconds = 300;

class Mpi : public testing::Test {
 protected:
  void SetUp() override {
    if (base::find_beside_program(kMpiModule).empty())
      GTEST_SKIP() << "built without Open MPI (libopenmpi-dev): there is no module " << kMpiModule;
    if (test::run_process({"mpirun", "--version"}).exit_code != 0) GTEST_SKIP() << "mpirun is missing (openmpi-bin)";
  }

  static test::Finished run(int world, const std::vector<std::string>& arguments) {
    std::vector<std::string> all{"mpirun",    "-n",   std::to_string(world), "--oversubscribe",
                                 "--bind-to", "none", "--allow-run-as-root"};
    return start(all, arguments);
  }
  static test::Finished run_alone(const std::vector<std::string>& arguments) { return start({}, arguments); }

  // What a failure of rank 1 of 3 must look like.
  static void expect_end(const std::string& how, const std::vector<std::string>& sayings) {
    const std::int64_t before = base::now_ns();
    const test::Finished finished = run(3, {how});
    EXPECT_FALSE(finished.timed_out);
    EXPECT_NE(finished.exit_code, 0);
    EXPECT_LT(base::seconds_since(before), 20);
    for (const std::string& saying : sayings)
      EXPECT_NE(finished.err.find(saying), std::string::npos) << "'" << saying << "' is not in: " << finished.err;
  }

 private:
  static test::Finished start(std::vector<std::string> all, const std::vector<std::string>& arguments) {
    all.push_back(test::fs::read_symlink("/proc/self/exe").string());
    all.insert(all.end(), arguments.begin(), arguments.end());
    return test::run_process(all, test::mpirun_environment(), kDeadlineSeconds);
  }
};

class MpiWorld : public Mpi, public testing::WithParamInterface<int> {};

TEST_P(MpiWorld, PassesTheTestsOfTheOtherTransports) {
  const test::Finished finished =
      run(GetParam(), {"tests", "--gtest_color=no",
                       "--gtest_filter=Over/Collectives.*:*OverEveryTransport*:Over/InBackground.Several*:"
                       "Worlds/PointToPoint.*-*FarAhead*"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_NE(finished.out.find("[  PASSED  ]"), std::string::npos) << finished.out;
  EXPECT_EQ(finished.out.find("[  PASSED  ] 0 tests"), std::string::npos) << finished.out;
}
INSTANTIATE_TEST_SUITE_P(Of, MpiWorld, testing::Values(1, 2, 3), testing::PrintToStringParamName());

TEST_F(Mpi, WithoutMpirunTheWorldIsOne) {
  const test::Finished finished =
      run_alone({"tests",
                 "--gtest_filter=Over/Collectives.*:*OverEveryTransport*:Over/InBackground.Several*:"
                 "Worlds/PointToPoint.*-*FarAhead*"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
}

TEST_F(Mpi, AKilledRankEndsTheJobAndIsNamed) { expect_end("killed", {"rank 1", "signal 9"}); }

TEST_F(Mpi, ARankThatExitsEndsTheJobAndIsNamed) {
  expect_end("exit", {"trireme: rank 1 of 3", "ends with exit code 3 and did not leave its group"});
}

TEST_F(Mpi, ARankThatFailsEndsTheJobAndIsNamed) {
  expect_end("throw", {"the loss is not a number", "trireme: rank 1 of 3", "ends with exit code 1"});
}

TEST_F(Mpi, AStoppedRankEndsTheJobAndIsNamed) { expect_end("stopped", {"rank 1 did not answer within 1 s"}); }

TEST_F(Mpi, WhatWasSentComesBeforeTheEnd) {
  const test::Finished finished = run(3, {"leave"});
  EXPECT_EQ(finished.exit_code, 0) << finished.out << finished.err;
  EXPECT_NE(finished.out.find("rank 1 has left the group"), std::string::npos) << finished.out;
}

TEST_F(Mpi, WaitingTakesNextToNothing) {
  const test::Finished finished = run(2, {"idle"});
  ASSERT_EQ(finished.exit_code, 0) << finished.err;
  std::istringstream words(finished.out);
  std::string word;
  for (double share = 0; words >> word >> share;) EXPECT_LT(share, 0.03) << finished.out;
}

}  // namespace
}  // namespace trireme::comm
