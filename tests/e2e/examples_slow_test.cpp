// The scripts of examples/strategies, on little data.
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "support/process.h"

namespace trireme::test {
namespace {

class Examples : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_FALSE(trireme_binary().empty()) << "TRIREME_BINARY is not set";
    if (run_process({"python3", "-c", "0"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
  }

  Finished run_script(const std::string& name, std::vector<std::string> arguments) const {
    const std::string script = std::string(TRIREME_SOURCE_DIR) + "/examples/strategies/" + name;
    arguments.insert(arguments.begin(), {"python3", "-B", script, "--model", "lenet5", "--data", "synthetic"});
    arguments.insert(arguments.end(), {"--workers", "2", "--train-samples", "400", "--test-samples", "50",
                                       "--optimizer", "sgd:lr=0.01", "--to", to().string()});
    return run_process(arguments, {"TRIREME=" + trireme_binary()});
  }
  fs::path to() const { return folder_ / "to"; }

 private:
  TemporaryFolder folder_;
};

TEST_F(Examples, CompareAllStrategies) {
  const Finished done = run_script("compare.py", {"--epochs", "2", "--batch", "32"});
  ASSERT_EQ(done.exit_code, 0) << done.err;
  const auto results = nlohmann::json::parse(text_of(to() / "compare.json")).at("results");
  EXPECT_EQ(results.size(), 9u);
  for (const char* way : {"allreduce", "ps sync"})
    EXPECT_EQ(results.at(way).at("weights_sha256"), results.at("single").at("weights_sha256")) << way;
  for (const auto& [name, row] : results.items())
    EXPECT_NE(done.out.find(row.at("weights_sha256").get<std::string>().substr(0, 8)), std::string::npos) << name;
  EXPECT_TRUE(text_of(to() / "accuracy.svg").starts_with("<svg"));
}

TEST_F(Examples, SlowMachines) {
  const Finished done = run_script("slow.py", {"--batch", "32", "--steps", "24", "--repeats", "1"});
  ASSERT_EQ(done.exit_code, 0) << done.out << done.err;
  for (const char* part : {"one is slow: --slow worker=1,factor=3", "in turn: --slow worker=0,factor=3,rotate=3",
                           "allreduce, measured", "async", "dssp, "})
    EXPECT_NE(done.out.find(part), std::string::npos) << part << " is not in\n" << done.out;
}

TEST_F(Examples, WhatIsWrongIsSaidBeforeTheWork) {
  EXPECT_EQ(run_script("compare.py", {"--strategies", "gossip"}).exit_code, 2);
  EXPECT_EQ(run_script("slow.py", {"--repeats", "0"}).exit_code, 2);
  EXPECT_FALSE(fs::exists(to()));
}

}  // namespace
}  // namespace trireme::test
