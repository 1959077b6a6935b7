// Tables as the program trains on them: columns of any scale, and what later commands know of them.
#include <array>
#include <cstdlib>

#include "base/text/text.h"
#include "cli/program.h"
#include "data/codecs/decompress.h"

namespace trireme::cli_test {
namespace {

class Tables : public Program {
 protected:
  // Three classes by which column is largest; the columns' scales differ by powers of ten.
  static std::string rows(int count, int first, double scale) {
    std::string text = "height,width,depth,class\n";
    for (int i = first; i < first + count; ++i) {
      const std::array<double, 3> noise{(i * 37 % 101) / 101.0, (i * 53 % 103) / 103.0, (i * 71 % 107) / 107.0};
      text += fmt::format("{},{},{},{}\n", scale * (noise[0] + (i % 3 == 0)), noise[1] + (i % 3 == 1),
                          1e-3 * (noise[2] + (i % 3 == 2)), std::array{"tall", "wide", "deep"}[std::size_t(i % 3)]);
    }
    return text;
  }
  void write_tables(double scale) const {
    write(folder() / "train.csv", rows(240, 0, scale));
    write(folder() / "test.csv", rows(60, 240, scale));
  }
  static Words settings(const std::string& run) {
    return {"--model", "mlp:hidden=16,8", "--data", "train.csv", "--epochs", "30", "--run", run};
  }
};

TEST_F(Tables, AreLearntWhateverTheirUnits) {
  for (const double scale : {1.0, 50000.0}) {
    write_tables(scale);
    const Json summary = trained(settings(fmt::format("r{}", scale)));
    EXPECT_GT(summary["test_accuracy"].get<double>(), 0.95) << scale;
  }
  const Json stored = Json::parse(read(folder() / "r50000/run.json"))["normalization"]["inputs"][0];
  EXPECT_EQ(stored["mean"].size(), 3u);
  EXPECT_GT(stored["divisor"][0].get<double>(), 1000);
  EXPECT_LT(stored["divisor"][2].get<double>(), 0.01);
}

TEST_F(Tables, KeepTheirNumbersInEvalResumeAndOtherWorkers) {
  write_tables(50000);
  const Json whole = trained(settings("whole"));
  const Json evaluated = last_json(run({"eval", "--run", "whole", "--checkpoint", "last", "--json"}));
  EXPECT_EQ(evaluated["weights_sha256"], whole["weights_sha256"]);
  EXPECT_DOUBLE_EQ(evaluated["accuracy"].get<double>(), whole["test_accuracy"].get<double>());
  // Other rows do not change the numbers that the weights were trained with.
  write(folder() / "one.csv", rows(3, 240, 50000));
  EXPECT_EQ(run({"eval", "--run", "whole", "--data", "one.csv", "--json"}).code, 0);

  trained(settings("parts") + Words{"--schedule", "constant", "--steps", "50"});
  const Json resumed = trained({"--resume", "parts", "--steps", "100"});
  const Json straight = trained(settings("straight") + Words{"--schedule", "constant", "--steps", "100"});
  EXPECT_EQ(resumed["weights_sha256"], straight["weights_sha256"]);
  const Json two = trained(settings("two") + Words{"--workers", "2", "--strategy", "allreduce"});
  EXPECT_EQ(two["weights_sha256"], whole["weights_sha256"]);
}

TEST_F(Tables, MistakesInAModelsOptionsAreNamed) {
  write_tables(1);
  expect_refused({"train", "--model", "mlp:hiden=3", "--data", "train.csv"}, {"mlp", "did you mean 'hidden'"});
  expect_refused({"train", "--model", "mlp2", "--data", "train.csv"}, {"did you mean 'mlp'"});
}

// The set of the StatLog project: 36 columns, 6 classes.
TEST_F(Tables, OfLandsatReachTheStudiesAccuracyInAnyUnits) {
  const char* data = std::getenv("TRIREME_DATA");
  const fs::path from = fs::path(data ? data : "") / "statlog-landsat";
  if (!data || !fs::exists(from / "sat.trn.xz"))
    GTEST_SKIP() << "statlog-landsat/sat.trn.xz is not in the folder TRIREME_DATA";
  std::array<double, 2> accuracy{};
  for (const bool scaled : {false, true}) {
    for (const char* name : {"sat.trn", "sat.tst"}) {
      data::UnpackedReader reader(data::builtin_codecs(), from / (name + std::string(".xz")));
      std::vector<std::uint8_t> bytes(std::size_t{1} << 20);
      bytes.resize(reader.read(bytes.data(), bytes.size()));
      std::string text;
      for (const std::string& line : base::split(std::string(bytes.begin(), bytes.end()), '\n')) {
        const std::size_t space = line.find(' ');
        if (space == std::string::npos) continue;
        const std::string first = line.substr(0, space);
        text += (scaled ? std::to_string(50000 * std::stol(first)) : first) + line.substr(space) + "\n";
      }
      write(folder() / name, text);
    }
    accuracy[scaled] = trained({"--model", "mlp", "--data", "./sat.trn", "--epochs", "20", "--optimizer", "adam",
                                "--run", scaled ? "scaled" : "plain"})["test_accuracy"];
  }
  EXPECT_GT(accuracy[0], 0.88);
  EXPECT_NEAR(accuracy[0], accuracy[1], 0.01);
}

}  // namespace
}  // namespace trireme::cli_test
