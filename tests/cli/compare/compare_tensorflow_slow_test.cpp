// `trireme compare --peer tensorflow`. Debian has no TensorFlow: skipped where no Python imports it.
#include "cli/program.h"
#include "support/peer_python.h"

namespace trireme::cli_test {
namespace {

using CompareTensorflow = Program;

TEST_F(CompareTensorflow, TheSameNetworksPass) {
  const std::string python = test::find_python("tensorflow");
  if (python.empty()) GTEST_SKIP() << "no Python with TensorFlow (pip install tensorflow-cpu)";
  const std::vector<Words> all{{"--model", "lenet5", "--oars", "3"},
                               {"--model", "mnist-cnn", "--optimizer", "adadelta", "--batch", "5"},
                               {"--model", "resnet20-cifar", "--optimizer", "adam", "--batch", "8"},
                               {"--model", "redshift-cnn", "--batch", "4", "--oars", "1"}};
  for (const Words& arguments : all) {
    const Outcome outcome =
        run(Words{"compare", "--json", "--python", python, "--peer", "tensorflow", "--steps", "2"} + arguments);
    EXPECT_EQ(outcome.code, 0) << arguments[1] << ": " << outcome.out << outcome.err;
  }
}

}  // namespace
}  // namespace trireme::cli_test
