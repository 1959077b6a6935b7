// Every command of docs/tutorial.md, in its order. A block of commands begins with ```sh; one that begins with
// ```sh ctrl-c is interrupted on the way.
#include <sstream>

#include "e2e/strategies.h"

namespace trireme::test {
namespace {

struct Block {
  std::string text;
  bool is_interrupted = false;
};

std::vector<Block> blocks_of(const fs::path& page) {
  std::vector<Block> blocks;
  std::istringstream lines(text_of(page));
  bool inside = false;
  for (std::string line; std::getline(lines, line);) {
    if (!inside && line.starts_with("```sh")) {
      blocks.push_back({"", line == "```sh ctrl-c"});
      inside = true;
    } else if (line == "```") {
      inside = false;
    } else if (inside) {
      blocks.back().text += line + "\n";
    }
  }
  return blocks;
}

class Tutorial : public Strategies {
 protected:
  void SetUp() override {
    Strategies::SetUp();
    if (IsSkipped()) return;
    if (run_process({"python3", "-c", "0"}).exit_code != 0) GTEST_SKIP() << "there is no python3";
    fs::create_directory(folder("bin"));
    fs::create_symlink(trireme_binary(), folder("bin/trireme"));
    fs::create_symlink(fs::path(TRIREME_SOURCE_DIR) / "examples", folder("examples"));
  }
  // As a terminal in folder() would run it.
  Arguments shell(const std::string& text) const {
    return {"bash", "-euc", "cd '" + folder("") + "'\nexport PATH=\"$PWD/bin:$PATH\"\n" + text};
  }
  Json summary(const std::string& run) const { return Json::parse(text_of(folder("runs/" + run + "/summary.json"))); }
};

TEST_F(Tutorial, EveryCommandWorks) {
  const std::vector<Block> blocks = blocks_of(fs::path(TRIREME_SOURCE_DIR) / "docs/tutorial.md");
  ASSERT_GT(blocks.size(), 10u);
  int interrupted = 0;
  for (const Block& block : blocks) {
    if (!block.is_interrupted) {
      const Finished done = run_process(shell(block.text), {}, kDeadlineSeconds);
      ASSERT_EQ(done.exit_code, 0) << block.text << done.out << done.err;
      continue;
    }
    ++interrupted;
    Process process(shell("exec " + block.text));
    EXPECT_TRUE(wait_until([&] { return metrics_of(folder("runs/again"), "epoch").size() >= 5; })) << block.text;
    process.kill(SIGINT);
    const Finished done = process.wait(kDeadlineSeconds);
    EXPECT_EQ(done.exit_code, 1) << done.err;
    EXPECT_NE(done.err.find("train --resume runs/again"), std::string::npos) << done.err;
  }
  EXPECT_EQ(interrupted, 1);

  // What the page says about them.
  EXPECT_GE(summary("first")["test_accuracy"], 0.95);
  for (const char* run : {"two", "again"})
    EXPECT_EQ(summary(run)["weights_sha256"], summary("first")["weights_sha256"]) << run;
  EXPECT_LT(summary("flats")["test_loss"], 0.04) << "the noise in the prices is 0.01";
}

}  // namespace
}  // namespace trireme::test
