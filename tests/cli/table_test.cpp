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

// A price by colour, size and age, with ids, a quoted name, missing ages, and fields that hold separators.
class MixedTables : public Program {
 protected:
  static constexpr std::array kColours{"red", "blue", "green, dark"};
  static std::string row(int i, bool with_price = true) {
    const auto colour = std::size_t(i * 7 % 3);
    const std::string age = i % 25 == 3 ? "?" : std::to_string(i % 10);
    std::string text = fmt::format("n{},\"{}\",{}", i, kColours[colour], age);
    if (with_price) text += fmt::format(",{}", 0.1 * (i % 25 == 3 ? 4.5 : i % 10) + double(colour));
    return text + "\n";
  }
  void write_table() const {
    std::string text = "id,colour,\"age, years\",price\n";
    for (int i = 0; i < 200; ++i) text += row(i);
    write(folder() / "t.csv", text);
  }
  static Words settings(const Words& more) {
    return Words{"--model",     "mlp:hidden=16", "--data",  "t.csv", "--target",         "values",
                 "--optimizer", "adam:lr=0.02",  "--batch", "16",    "--ignore-columns", "id",
                 "--missing",   "mean",          "--run",   "r"} +
           more;
  }
  std::vector<double> predicted(const std::string& text) const {
    write(folder() / "p.csv", text);
    const Outcome outcome = run({"predict", "--run", "r", "--data", "p.csv"});
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<double> values;
    for (const std::string& line : lines_of(outcome.out))
      if (!line.starts_with("index")) values.push_back(std::stod(line.substr(line.rfind(',') + 1)));
    return values;
  }
};

TEST_F(MixedTables, AreTrainedAndPredictedByName) {
  write_table();
  const Outcome outcome = run(Words{"train"} + settings({"--epochs", "40"}));
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_NE((outcome.out + outcome.err)
                .find("4 columns separated by ',', a header, target 'price', words in 'colour', 1 ignored -> 4 inputs"),
            std::string::npos)
      << outcome.out << outcome.err;
  const Json samples = Json::parse(read(folder() / "r/run.json"))["samples"];
  EXPECT_EQ(samples["table"]["inputs"][0]["words"], (Json{"blue", "green, dark", "red"}));
  EXPECT_EQ(samples["table"]["inputs"][1]["name"], "age, years");

  // Other columns, in another order, without the price.
  const auto values = predicted("\"age, years\",note,colour\n2,x,red\n2,y,\"green, dark\"\n?,z,blue\n");
  ASSERT_EQ(values.size(), 3u);
  EXPECT_NEAR(values[0], 0.2, 0.1);
  EXPECT_NEAR(values[1], 2.2, 0.1);
  EXPECT_NEAR(values[2], 1.45, 0.1);
  EXPECT_EQ(predicted("n1,red,2\nn2,\"green, dark\",2\nn3,blue,?\n"), values) << "without a header";
  EXPECT_EQ(predicted("red,2\n\"green, dark\",2\nblue,?\n"), values) << "the inputs alone";

  write(folder() / "p.csv", "colour,\"age, years\"\npink,3\n");
  expect_refused({"predict", "--run", "r", "--data", "p.csv"},
                 {"p.csv, line 2, column 1 ('colour')", "'pink'", "'blue', 'green, dark', 'red'"});
  write(folder() / "p.csv", "colour,age\nred,3\n");
  expect_refused({"predict", "--run", "r", "--data", "p.csv"}, {"p.csv lacks", "'age, years'", "'colour', 'age'"});
  expect_refused({"eval", "--run", "r", "--data", "p.csv"}, {"p.csv lacks", "'age, years'"});
}

TEST_F(MixedTables, HaveTheSameBitsResumedPackedAndWithWorkers) {
  write_table();
  const Words steady{"--schedule", "constant"};
  const Json whole = trained(settings(steady + Words{"--steps", "40"}));
  trained(settings(steady + Words{"--steps", "15", "--run", "parts"}));
  EXPECT_EQ(trained({"--resume", "parts", "--steps", "40"})["weights_sha256"], whole["weights_sha256"]);
  trained(settings(steady + Words{"--steps", "40", "--run", "two", "--workers", "2"}));
  const auto weights = [&](const std::string& name) {
    return last_json(run({"eval", "--run", name, "--checkpoint", "last", "--json"}))["weights_sha256"];
  };
  EXPECT_EQ(weights("two"), whole["weights_sha256"]);
  trained({"--resume", "two", "--steps", "50"});
  trained({"--resume", "r", "--steps", "50"});
  EXPECT_EQ(weights("two"), weights("r"));

  ASSERT_EQ(run({"data", "pack", "--data", "t.csv", "--target", "values", "--ignore-columns", "id", "--missing", "mean",
                 "--to", "t.trireme"})
                .code,
            0);
  trained({"--model", "mlp:hidden=16", "--data", "./t.trireme", "--target", "values", "--optimizer", "adam:lr=0.02",
           "--batch", "16", "--schedule", "constant", "--steps", "50", "--run", "packed"});
  EXPECT_EQ(weights("packed"), weights("r"));
  write(folder() / "three.csv", "colour,\"age, years\",price\nred,1,1\npink,2,2\nblue,3,2\n");
  ASSERT_EQ(run({"data", "pack", "--data", "three.csv", "--target", "values", "--to", "three.trireme"}).code, 0);
  expect_refused({"eval", "--run", "r", "--data", "./three.trireme"},
                 {"three.trireme", "other columns or words", "the table itself"});

  write(folder() / "p.csv", "\"age, years\",colour\n2,red\n");
  EXPECT_EQ(run({"predict", "--run", "packed", "--data", "p.csv"}).out,
            run({"predict", "--run", "r", "--data", "p.csv"}).out);
}

TEST_F(MixedTables, InfoDescribesTheirColumns) {
  write_table();
  const Outcome outcome = run({"data", "info", "--data", "t.csv", "--target", "values", "--ignore-columns", "id",
                               "--missing", "zero", "--json"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const Json columns = last_json(outcome)["columns"];
  ASSERT_EQ(columns.size(), 4u);
  EXPECT_EQ(columns[0]["use"], "ignored");
  EXPECT_EQ(columns[1]["name"], "colour");
  EXPECT_EQ(columns[1]["kind"], "words");
  EXPECT_EQ(columns[1]["words"], (Json{{"blue", 67}, {"green, dark", 66}, {"red", 67}}));
  EXPECT_EQ(columns[2]["missing"], 8);
  EXPECT_EQ(columns[2]["min"], 0);
  EXPECT_EQ(columns[2]["max"], 9);
  EXPECT_EQ(columns[3]["use"], "target");
  // What training refuses is described, and then refused.
  const Outcome refused = run({"data", "info", "--data", "t.csv", "--target", "values"});
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.out.find("red 67"), std::string::npos) << refused.out;
  EXPECT_NE(refused.err.find("column 1 ('id'): 200 different words"), std::string::npos) << refused.err;
  EXPECT_NE(refused.err.find("--ignore-columns id"), std::string::npos) << refused.err;
  expect_refused({"train", "--data", "t.csv", "--target", "values", "--ignore-columns", "id"},
                 {"t.csv, line 5, column 3 ('age, years')", "missing", "8 of 200 lines", "--missing mean"});
  expect_refused({"train", "--data", "t.csv", "--ignore-columns", "id", "--missing", "mean"},
                 {"line 3, column 4", "no whole number", "--target values"});
  expect_refused({"train", "--data", "t.csv", "--ignore-columns", "idd"}, {"'idd'", "did you mean 'id'"});
  expect_refused({"train", "--data", "t.csv", "--missing", "median"}, {"--missing", "median", "mean"});
  expect_refused({"train", "--data", "synthetic", "--target-column", "a"}, {"no text table", "--target-column"});
}

TEST_F(MixedTables, SeveralTargetsAreVectorsAndLabels) {
  std::string text = "wet,x,cold,y\n";
  for (int i = 0; i < 60; ++i)
    text += fmt::format("{},{},{},{}\n", i % 2, i % 2 * 2 - 1, int(i % 3 == 0), i % 3 == 0 ? 1 : -1);
  write(folder() / "l.csv", text);
  const auto trained_to = [&](const char* target) {
    trained({"--model", "mlp:hidden=8", "--data", "l.csv", "--target", target, "--target-column", "cold,wet",
             "--epochs", "30", "--optimizer", "adam:lr=0.02", "--batch", "8", "--run", target});
    write(folder() / "p.csv", "y,x\n1,-1\n-1,1\n");
    return lines_of(run({"predict", "--run", target, "--data", "p.csv"}).out);
  };
  const auto labels = trained_to("labels");
  EXPECT_EQ(labels.at(0), "index,predicted,p_cold,p_wet");
  EXPECT_TRUE(labels.at(1).starts_with("0,cold,")) << labels.at(1);
  EXPECT_TRUE(labels.at(2).starts_with("1,wet,")) << labels.at(2);
  EXPECT_EQ(trained_to("values").at(0), "index,predicted_cold,predicted_wet");
  expect_refused({"train", "--data", "l.csv", "--target-column", "cold,wet"}, {"2 columns", "--target labels"});
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
