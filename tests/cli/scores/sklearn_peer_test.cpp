// Regression on a table against scikit-learn's MLPRegressor: the same rows, the same split, a network of the same size.
#include "base/text/text.h"
#include "cli/program.h"
#include "support/peer_python.h"

namespace trireme::cli_test {
namespace {

constexpr double kMargin = 0.01;   // of R2
constexpr double kDeadline = 300;  // seconds

using ScikitLearn = Program;

// Scikit-learn fits 100 hidden units with Adam; so does this run. Its initial weights (Glorot) are those of Keras.
TEST_F(ScikitLearn, FindsNoBetterFitOfFriedman1) {
  const std::string python = test::find_python("sklearn");
  if (python.empty()) return test::without_peer("neither python3 nor /usr/bin/python3 imports sklearn");
  const Words seeds{"0", "1", "2", "3", "4"};
  const std::string script = std::string(TRIREME_SOURCE_DIR) + "/tests/cli/scores/friedman.py";
  const auto peer =
      test::run_process(Words{python, script, folder().string()} + seeds, {"OPENBLAS_NUM_THREADS=1"}, kDeadline);
  ASSERT_EQ(peer.exit_code, 0) << peer.err;
  const Json theirs = Json::parse(peer.out);
  double sum = 0;
  for (const std::string& seed : seeds) {
    const Json summary = last_json(run(
        {"train", "--model", "mlp:hidden=100", "--data",      seed + "/train.csv", "--target",     "values", "--seed",
         seed,    "--init",  "keras",          "--optimizer", "adam:lr=0.005",     "--epochs",     "60",     "--batch",
         "32",    "--run",   "r" + seed,       "--json",      "--quiet",           "--validation", "none"}));
    ASSERT_EQ(summary["test_values"].size(), 1u) << summary;
    sum += summary["test_r2"].get<double>();
  }
  const double ours = sum / static_cast<double>(seeds.size());
  fmt::print("R2: ours {:.4f}, scikit-learn {:.4f} by default, {:.4f} with 500 iterations\n", ours,
             theirs["default"].get<double>(), theirs["tuned"].get<double>());
  EXPECT_GE(ours, theirs["default"].get<double>() - kMargin);
  EXPECT_GE(ours, theirs["tuned"].get<double>() - kMargin);
  EXPECT_LT(ours, theirs["truth"].get<double>() + 0.002) << "better than the noise allows";
}

}  // namespace
}  // namespace trireme::cli_test
