// Values of any size are learnt, and everything that a user sees of them is in their own units.
#include <cmath>

#include "base/text/text.h"
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class TargetScales : public Program {
 protected:
  static int step_of(int i) { return i * 37 % 101 - 50; }
  // The price is 300000 + 50000 size, a multiple of 1000.
  static std::string house(int i) { return fmt::format("{},{},{}\n", 0.02 * step_of(i), i * 53 % 97, price(i)); }
  static int price(int i) { return 300000 + 1000 * step_of(i); }
  void write_houses() const {
    std::string train = "size,age,price\n", test = train;
    for (int i = 0; i < 400; ++i) train += house(i);
    for (int i = 400; i < 500; ++i) test += house(i);
    write(folder() / "train.csv", train);
    write(folder() / "test.csv", test);
  }
  static Words houses(const std::string& run) {
    return {"--model", "mlp", "--data", "train.csv", "--target", "values", "--epochs", "10", "--run", run};
  }
  Json run_json(const std::string& run) const { return Json::parse(read(folder() / run / "run.json")); }
};

TEST_F(TargetScales, PricesAreLearntWithDefaults) {
  write_houses();
  const Json summary = trained(houses("r"));
  EXPECT_GT(summary["test_r2"].get<double>(), 0.95);
  EXPECT_LT(summary["test_mae"].get<double>(), 6000);
  EXPECT_GT(summary["test_mae"].get<double>(), 1) << "in the data's units";
  const Json stored = run_json("r");
  EXPECT_EQ(stored["configuration"]["target-scale"], "standard");
  const double deviation = stored["target_scale"]["deviation"][0];
  const double rmse = summary["test_rmse"];
  EXPECT_NEAR(summary["test_loss"].get<double>(), rmse * rmse / (deviation * deviation), 1e-5);
  // What predict says: the labels of the file, and predictions whose errors are those of the summary.
  const Words rows = lines_of(run({"predict", "--run", "r", "--checkpoint", "last"}).out);
  ASSERT_EQ(rows.size(), 101u);
  double absolute = 0;
  for (int i = 0; i < 100; ++i) {
    const Words cells = base::split(rows[std::size_t(i) + 1], ',');
    EXPECT_EQ(std::stod(cells.at(1)), price(400 + i));
    absolute += std::abs(std::stod(cells.at(2)) - price(400 + i));
  }
  EXPECT_NEAR(summary["test_mae"].get<double>(), absolute / 100, 0.05);
  const Json evaluated = last_json(run({"eval", "--run", "r", "--checkpoint", "last", "--json"}));
  for (const char* name : {"loss", "mae", "rmse", "r2"})
    EXPECT_EQ(evaluated[name], summary[std::string("test_") + name]) << name;
  EXPECT_GT(evaluated["worst"][0]["predicted"].get<double>(), 200000);
  EXPECT_LT(evaluated["worst"][0]["loss"].get<double>(), 1);
}

// The weights' bits, too: the network sees the same numbers. 256 rows have an exact mean.
TEST_F(TargetScales, APowerOfTwoChangesNothing) {
  std::vector<Json> summaries;
  const std::vector<std::pair<double, double>> units{{1, 0}, {131072, 0}, {1.0 / 64, 0}, {1, 1048576}};
  for (const auto& [factor, shift] : units) {
    std::string train = "size,age,price\n", test = train;
    for (int i = 0; i < 356; ++i)
      (i < 256 ? train : test) +=
          fmt::format("{},{},{}\n", 0.02 * step_of(i), i * 53 % 97, factor * step_of(i) + shift);
    write(folder() / "train.csv", train);
    write(folder() / "test.csv", test);
    summaries.push_back(trained(houses(fmt::format("r{}", summaries.size())) + Words{"--validation", "none"}));
  }
  for (std::size_t i = 1; i < units.size(); ++i) {
    EXPECT_EQ(summaries[i]["weights_sha256"], summaries[0]["weights_sha256"]) << i;
    EXPECT_EQ(summaries[i]["test_r2"], summaries[0]["test_r2"]) << i;
    EXPECT_EQ(summaries[i]["test_loss"], summaries[0]["test_loss"]) << i;
    EXPECT_EQ(summaries[i]["test_mae"].get<double>(), units[i].first * summaries[0]["test_mae"].get<double>()) << i;
  }
}

TEST_F(TargetScales, WorkersAndResumesHaveTheSameBits) {
  write_houses();
  const Words steady{"--schedule", "constant", "--epochs", "4"};
  const Json whole = trained(houses("whole") + steady);
  const Json three = trained(houses("three") + steady + Words{"--workers", "3"});
  trained(houses("parts") + Words{"--schedule", "constant", "--steps", "9"});
  const Json resumed = trained({"--resume", "parts", "--epochs", "4", "--workers", "2", "--strategy", "allreduce"});
  for (const Json& other : {three, resumed})
    for (const char* name : {"weights_sha256", "test_r2", "test_mae", "test_loss"})
      EXPECT_EQ(other[name], whole[name]) << name;
  EXPECT_EQ(run_json("parts")["target_scale"], run_json("whole")["target_scale"]);
  expect_refused({"train", "--resume", "parts", "--target-scale", "none"}, {"--target-scale", "cannot change"});
  EXPECT_EQ(run({"train", "--resume", "parts", "--target-scale", "auto", "--epochs", "5"}).code, 0);
}

// Asynchronous workers load their batches in another way. Values as they are would end at infinity; what pushes that
// come late cost is another matter.
TEST_F(TargetScales, EveryStrategyLearnsThem) {
  write_houses();
  int number = 0;
  for (const char* strategy : {"ps:mode=async", "local:every=2", "groups:count=2"}) {
    const Json summary = trained(houses(fmt::format("r{}", number++)) +
                                 Words{"--epochs", "30", "--workers", "2", "--strategy", strategy});
    EXPECT_GT(summary["test_r2"].get<double>(), 0.5) << strategy;
  }
}

TEST_F(TargetScales, RunsOfOlderVersionsLearnValuesAsTheyAre) {
  write_houses();
  const Words plain{"--target-scale", "none", "--schedule", "constant", "--optimizer", "adam:lr=0.01"};
  const Json whole = trained(houses("whole") + plain);
  trained(houses("r") + plain + Words{"--epochs", "4"});
  Json json = run_json("r");
  EXPECT_FALSE(json.contains("target_scale"));
  EXPECT_EQ(json["configuration"].erase("target-scale"), 1u);
  json.erase("checksum");
  write(folder() / "r/run.json", json.dump());
  const Json before = last_json(run({"eval", "--run", "r", "--json"}));
  EXPECT_GT(before["loss"].get<double>(), 1e6) << "of values as they are";
  EXPECT_NEAR(before["rmse"].get<double>(), std::sqrt(before["loss"].get<double>()), 1);
  EXPECT_EQ(trained({"--config", "r/run.json", "--epochs", "10", "--run", "again"})["weights_sha256"],
            whole["weights_sha256"]);
  EXPECT_EQ(trained({"--resume", "r", "--epochs", "10"})["weights_sha256"], whole["weights_sha256"]);
  EXPECT_EQ(run_json("r")["configuration"]["target-scale"], "none");
}

TEST_F(TargetScales, OtherTablesAreReadByTheRunsScale) {
  write_houses();
  trained(houses("r"));
  std::string other = "price,id,size,age\n", unpriced = "size,age\n";
  for (int i = 100; i < 120; ++i) {  // houses of one price range have another mean and deviation
    const int k = 100 + i % 5;
    other += fmt::format("{},h{},{},{}\n", price(k), i, 0.02 * step_of(k), k * 53 % 97);
    unpriced += fmt::format("{},{}\n", 0.02 * step_of(k), k * 53 % 97);
  }
  write(folder() / "other.csv", other);
  write(folder() / "unpriced.csv", unpriced);
  const Json evaluated = last_json(run({"eval", "--run", "r", "--data", "other.csv", "--json"}));
  EXPECT_LT(evaluated["mae"].get<double>(), 8000);
  const auto known = lines_of(run({"predict", "--run", "r", "--data", "other.csv"}).out);
  const auto unknown = lines_of(run({"predict", "--run", "r", "--data", "unpriced.csv"}).out);
  ASSERT_EQ(known.size(), 21u);
  ASSERT_EQ(unknown.size(), 21u);
  for (std::size_t i = 1; i < known.size(); ++i)
    EXPECT_EQ(known[i].substr(known[i].rfind(',')), unknown[i].substr(unknown[i].rfind(','))) << i;
}

TEST_F(TargetScales, EveryValueHasItsOwn) {
  std::string text = "a,b,large,small,same\n";
  for (int i = 0; i < 300; ++i)
    text += fmt::format("{},{},{},{},7\n", 0.02 * step_of(i), 0.01 * (i * 53 % 97), price(i), 1e-4 * (i * 53 % 97));
  write(folder() / "table.csv", text);
  const Json summary = trained({"--model", "mlp", "--data", "table.csv", "--target", "values", "--target-column",
                                "large,small,same", "--epochs", "30", "--run", "r"});
  EXPECT_GT(summary["test_values"][0]["r2"].get<double>(), 0.95);
  EXPECT_GT(summary["test_values"][1]["r2"].get<double>(), 0.95);
  EXPECT_TRUE(summary["test_values"][2]["r2"].is_null());
  EXPECT_EQ(run_json("r")["target_scale"]["deviation"][2], 1);
}

TEST_F(TargetScales, AreForValuesAndForNetworksThatGiveAnyNumber) {
  write_houses();
  write(folder() / "bounded.toml", R"(inputs = [{name = "row", shape = [1, 2]}]
layers = ["flatten", {op = "dense", outputs = "classes"}, "sigmoid"]
)");
  const Words bounded{"--model", "bounded.toml", "--data", "train.csv", "--target", "values"};
  expect_refused(Words{"train", "--run", "no"} + bounded + Words{"--target-scale", "standard"},
                 {"--target-scale", "sigmoid", "use none"});
  const Outcome outcome = run(Words{"train", "--run", "b", "--steps", "1"} + bounded);
  EXPECT_NE((outcome.out + outcome.err).find("learnt as they are, because"), std::string::npos) << outcome.out;
  EXPECT_EQ(run_json("b")["configuration"]["target-scale"], "none");
  expect_refused(Words{"train"} + kSmall + Words{"--target-scale", "standard"}, {"--target-scale", "classes"});
  expect_refused(Words{"train"} + houses("no") + Words{"--target-scale", "std"}, {"--target-scale", "std"});
  trained(kSmall + Words{"--target", "values", "--run", "s", "--steps", "1"});
  EXPECT_EQ(run_json("s")["configuration"]["target-scale"], "none") << "synthetic";
}

}  // namespace
}  // namespace trireme::cli_test
