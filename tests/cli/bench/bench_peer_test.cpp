// `trireme bench` beside the real PyTorch.
#include "cli/program.h"
#include "support/peer_python.h"

namespace trireme::cli_test {
namespace {

using BenchPeer = Program;

TEST_F(BenchPeer, PytorchItselfAnswers) {
  const std::string python = test::find_python("torch");
  if (python.empty()) return test::without_peer("no Python with PyTorch (python3-torch)");
  const Outcome outcome = run({"bench", "step", "--json", "--model", "lenet5,redshift-cnn", "--batch", "2", "--repeats",
                               "1", "--peer", "pytorch", "--python", python});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json json = last_json(outcome);
  ASSERT_EQ(json.at("results").size(), 2u);
  for (const Json& one : json["results"]) {
    for (const char* side : {"ours", "theirs"})
      for (const char* field : {"forward_ms", "backward_ms", "update_ms", "total_ms", "best_ms", "memory_mb"})
        EXPECT_GT(one.at(side).at(field).get<double>(), 0) << side << " " << field;
    EXPECT_GT(one.at("ratio").get<double>(), 0);
  }
}

}  // namespace
}  // namespace trireme::cli_test
