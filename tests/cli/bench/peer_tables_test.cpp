// bench/tables.py: the tables of docs/benchmarks.md are made from bench/peer_results.json.
#include "base/system/files.h"
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

const fs::path kBench = fs::path(TRIREME_SOURCE_DIR) / "bench";

class PeerTables : public testing::Test {
 protected:
  void SetUp() override {
    if (test::run_process({"python3", "-c", "0"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
    write(page(),
          "# Page\n<!-- peer results: step -->\nold\n<!-- end -->\n<!-- peer results: train -->\n<!-- end -->\n"
          "<!-- peer results: input -->\n<!-- end -->\nthe rest\n");
  }
  test::Finished make(const Words& more = {}) const {
    return test::run_process(Words{"python3", "-B", (kBench / "tables.py").string(), "--results",
                                   (folder_ / "results.json").string(), "--page", page().string()} +
                             more);
  }
  fs::path page() const { return folder_ / "page.md"; }
  void results(const std::vector<Json>& all) const { write(folder_ / "results.json", Json{{"results", all}}.dump()); }

 private:
  test::TemporaryFolder folder_;
};

Json step(const char* version, double ratio, const char* machine = "M, 2 cores") {
  return {{"bench", "step"},
          {"machine", machine},
          {"cores", 2},
          {"date", "2026-01-02"},
          {"model", "lenet5"},
          {"batch", 42},
          {"threads", 1},
          {"oars", 1},
          {"ours_ms", 2.0},
          {"peer_version", version},
          {"peer_way", "nchw, fused SGD, BLAS mkl, torch.compile"},
          {"peer_ms", 2 * ratio},
          {"ratio", ratio},
          {"peer_bf16_way", "channels_last, fused SGD, BLAS mkl, bf16"},
          {"peer_bf16_ms", 1.0},
          {"ratio_bf16", 0.5},
          {"memory_mb", 7.0},
          {"peer_memory_mb", 20.0},
          {"peer_ways", Json::array()}};
}

TEST_F(PeerTables, TheNewestPytorchAndTheNewestResultCount) {
  Json refused = step("3.0", 9);
  refused.erase("ratio");
  Json busy = step("4.0", 9);
  busy["peer_best_ms"] = 11.0;  // the median is 18
  Json calm = step("2.9.1", 3.25);
  calm["best_ms"] = 1.9;
  results({calm, step("1.13.1", 7), step("2.15.0+cpu", 5), step("2.15.0+cpu", 4), refused, busy});
  const auto made = make();
  ASSERT_EQ(made.exit_code, 0) << made.err;
  const std::string text = read(page());
  EXPECT_EQ(text.find("old\n"), std::string::npos) << text;
  EXPECT_TRUE(text.ends_with("the rest\n"));
  const auto at = [&](const char* part) { return text.find(part); };
  ASSERT_NE(at("PyTorch 1.13.1"), std::string::npos) << text;
  EXPECT_LT(at("**PyTorch 2.15.0** with mkl, M, 2 cores, 2026-01-02"), at("**PyTorch 2.9.1**")) << text;
  EXPECT_LT(at("**PyTorch 2.9.1**"), at("**PyTorch 1.13.1**")) << text;
  EXPECT_NE(at("| lenet5 | 42 | 1 | 2.00 | 8.00 | **4.00** | nchw, fused SGD, torch.compile | 1.00 | 0.50 | "
               "channels_last, fused SGD, bf16 | 7 / 20 |"),
            std::string::npos)
      << text;
  EXPECT_EQ(at("**5.00**"), std::string::npos) << "measured again: " << text;
  EXPECT_EQ(at("PyTorch 3.0"), std::string::npos) << "without a ratio: " << text;
  EXPECT_EQ(at("PyTorch 4.0"), std::string::npos) << "measured on a busy machine: " << text;
  EXPECT_EQ(make({"--check"}).exit_code, 0);
  results({step("2.15.0", 4)});
  EXPECT_EQ(make({"--check"}).exit_code, 1) << "the page has tables that these results do not make";
}

TEST_F(PeerTables, ThoseOfTheDocumentationAreUpToDate) {
  const auto finished = test::run_process({"python3", "-B", (kBench / "tables.py").string(), "--check"});
  EXPECT_EQ(finished.exit_code, 0) << finished.err;
}

// Two calls add up.
TEST_F(PeerTables, ResultsAccumulate) {
  const test::TemporaryFolder folder;
  write(folder / "trireme",
        "#!/bin/sh\necho '{\"results\": [{\"model\": \"lenet5\", \"peer_way\": \"nchw\", \"ratio\": 3.123456789, "
        "\"ours\": {\"memory_mb\": 1}, \"theirs\": {\"memory_mb\": 2}}]}'\n");
  fs::permissions(folder / "trireme", fs::perms::owner_all);
  for (int call = 0; call < 2; ++call) {
    const auto finished =
        test::run_process({"env", "TRIREME=" + (folder / "trireme").string(), "python3", "-B",
                           (kBench / "peer_tables.py").string(), "--benches", "step", "--model", "lenet5", "--threads",
                           "1,2", "--no-tables", "--machine", "mine", "--results", (folder / "r.json").string()});
    ASSERT_EQ(finished.exit_code, 0) << finished.err;
  }
  const Json all = Json::parse(read(folder / "r.json")).at("results");
  ASSERT_EQ(all.size(), 4u) << "two calls of two";
  EXPECT_EQ(all[0].at("machine"), "mine");
  EXPECT_EQ(all[0].at("bench"), "step");
  EXPECT_EQ(all[0].at("ratio"), 3.1235);
  EXPECT_EQ(all[0].at("peer_memory_mb"), 2);
  EXPECT_FALSE(all[0].contains("theirs"));
}

}  // namespace
}  // namespace trireme::cli_test
