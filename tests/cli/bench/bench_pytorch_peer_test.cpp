// `trireme bench --peer pytorch` with a real PyTorch. Times are never judged.
#include "base/error.h"
#include "cli/program.h"
#include "peer/script.h"
#include "support/peer_python.h"

namespace trireme::cli_test {
namespace {

class BenchPytorch : public Program {
 protected:
  void SetUp() override {
    Program::SetUp();
    if (IsSkipped()) return;
    try {
      python_ = peer::find_python(peer::pytorch(), {});
    } catch (const base::Error& error) {
      return test::without_peer(error.what());
    }
  }
  Json results(const Words& arguments) const {
    const Outcome outcome =
        run(Words{"bench"} + arguments + Words{"--repeats", "1", "--peer", "pytorch", "--python", python_, "--json"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    return last_json(outcome).at("results");
  }
  const std::string& python() const { return python_; }

 private:
  std::string python_;
};

// A ratio, or on the reference BLAS the reason why there is none.
void expect_ratio(const Json& one) {
  const bool is_reference = one.at("peer_way").get<std::string>().find("BLAS reference") != std::string::npos;
  EXPECT_EQ(one.contains("ratio"), !is_reference) << one.dump();
  EXPECT_EQ(one.contains("why_no_ratio"), is_reference) << one.dump();
  EXPECT_GT(one.at("peer_ms").get<double>(), 0);
}

// The kinds of ways that were tried, with a figure or a reason.
void expect_tried(const Json& one, const Words& parts) {
  std::string all;
  for (const Json& way : one.at("peer_ways")) {
    all += way.at("way").get<std::string>() + "; ";
    EXPECT_TRUE(way.contains("ms") != way.contains("not_available")) << way.dump();
    EXPECT_NE(way.value("not_available", "a reason"), "");
  }
  for (const std::string& part : parts) EXPECT_NE(all.find(part), std::string::npos) << part << " in: " << all;
}

TEST_F(BenchPytorch, StepsInAllItsWays) {
  const Json all = results({"step", "--model", "lenet5,redshift-cnn", "--batch", "2"});
  ASSERT_EQ(all.size(), 2u);
  for (const Json& one : all) {
    expect_ratio(one);
    for (const char* field : {"forward_ms", "backward_ms", "update_ms", "total_ms", "best_ms", "memory_mb"})
      EXPECT_GT(one.at("theirs").at(field).get<double>(), 0) << field;
    expect_tried(one, {"in-place activations", "torch.compile", "bf16 autocast", "bf16"});
  }
  expect_tried(all[0], {"channels_last"});
}

TEST_F(BenchPytorch, TrainsWithTwoProcesses) {
  const Json all =
      results({"train", "--model", "lenet5", "--world", "2", "--batch", "16", "--peer-ways", "in-place,bf16"});
  ASSERT_EQ(all.size(), 2u) << "one oar for each thread, and as many as train takes";
  EXPECT_EQ(all[0].at("oars"), 2);
  EXPECT_EQ(all[1].at("oars"), 4);
  for (const Json& one : all) {
    expect_ratio(one);
    expect_tried(one, {"in-place activations", "bf16 autocast"});
  }
}

TEST_F(BenchPytorch, ReadsByWholeBatches) {
  ASSERT_EQ(run({"data", "pack", "--data", "synthetic", "--to", "s.trireme"}).code, 0);
  const Json all =
      results({"input", "--data", "s.trireme", "--batch", "16", "--processes", "1", "--peer-ways", "plain"});
  const Json& one = all.at(0);
  EXPECT_GT(one.at("ratio").get<double>(), 0);
  int batches = 0, copies = 0;
  for (const Json& way : one.at("peer_ways")) {
    EXPECT_GT(way.at("samples_per_second").get<double>(), 0) << way.dump();
    batches += way.at("way").get<std::string>().starts_with("batches") ? 1 : 0;
    copies += way.at("way").get<std::string>().starts_with("copies") ? 1 : 0;
  }
  EXPECT_EQ(batches, 6) << "0, 1 and 2 workers, in memory and mapped";
  EXPECT_EQ(copies, 3);
}

// In-place activations leave gradients alone, pipelines make the same batches, bf16 is bf16.
TEST_F(BenchPytorch, WaysComputeTheSame) {
  const fs::path source = TRIREME_SOURCE_DIR;
  const auto finished =
      test::run_process({python(), "-B", "-W", "ignore", (source / "tests/peer/pytorch_scripts.py").string(),
                         (source / "peers").string()});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

}  // namespace
}  // namespace trireme::cli_test
