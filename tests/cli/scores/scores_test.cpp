// Values, labels, unbalanced classes and frozen layers, as the program trains and reports them.
#include <array>
#include <cmath>
#include <cstring>
#include <map>

#include "base/text/text.h"
#include "cli/program.h"

namespace trireme::cli_test {
namespace {

class ScoresOfRuns : public Program {
 protected:
  static double noise(int i, int prime) { return (i * prime % 101) / 101.0; }
  // Two columns; the targets are values, labels or a class that only a tenth of the rows have.
  void write_table(const std::string& name, int first, int rows) const {
    std::string text = "a,b,target\n";
    for (int i = first; i < first + rows; ++i)
      text += fmt::format("{},{},{}\n", noise(i, 37), noise(i, 53), 3 * noise(i, 37) - noise(i, 53) + 5);
    write(folder() / name, text);
  }
  void write_classes(const std::string& name, int first, int rows) const {
    std::string text = "a,b,class\n";
    for (int i = first; i < first + rows; ++i)
      text += fmt::format("{},{},{}\n", noise(i, 37), noise(i, 53), i % 10 == 0 ? "rare" : "common");
    write(folder() / name, text);
  }
  void write_values() const {
    write_table("train.csv", 0, 200);
    write_table("test.csv", 200, 70);
  }
  static Words values(const std::string& run) {
    return {"--model",      "mlp:hidden=16",
            "--data",       "train.csv",
            "--target",     "values",
            "--batch",      "16",
            "--oars",       "4",
            "--epochs",     "20",
            "--optimizer",  "adam:lr=0.03",
            "--run",        run,
            "--validation", "0%"};
  }
  std::vector<Json> epochs_of(const std::string& run) const {
    std::vector<Json> all;
    for (const std::string& line : lines_of(read(folder() / run / "metrics.jsonl")))
      if (Json json = Json::parse(line); json["type"] == "epoch") all.push_back(std::move(json));
    return all;
  }
  // The plain values of each tensor of the last checkpoint.
  std::map<std::string, std::string> weights_of(const std::string& run) const {
    fs::path last;
    for (const auto& entry : fs::directory_iterator(folder() / run / "checkpoints"))
      if (entry.path().filename().string().starts_with("step-")) last = std::max(last, entry.path());
    const std::string bytes = read(last / "weights.safetensors");
    std::uint64_t size = 0;
    std::memcpy(&size, bytes.data(), sizeof size);
    std::map<std::string, std::string> tensors;
    const Json header = Json::parse(bytes.substr(8, size));
    for (const auto& [name, tensor] : header.items()) {
      if (name == "__metadata__") continue;
      const std::size_t begin = tensor["data_offsets"][0], end = tensor["data_offsets"][1];
      tensors[name] = bytes.substr(8 + size + begin, end - begin);
    }
    return tensors;
  }
  // The names of the tensors that differ between the last checkpoints of two runs.
  Words differing(const std::string& a, const std::string& b) const {
    Words names;
    const auto one = weights_of(a), other = weights_of(b);
    EXPECT_EQ(one.size(), other.size());
    for (const auto& [name, values] : one)
      if (other.at(name) != values) names.push_back(name);
    return names;
  }
};

TEST_F(ScoresOfRuns, ValuesHaveErrorsAndNoAccuracy) {
  write_values();
  const Words on_test{"--validation", "0%"};  // evaluates the test set after each epoch
  const Json summary = trained(values("r") + on_test);
  const std::array<const char*, 3> names{"mae", "rmse", "r2"};
  const Json scale = Json::parse(read(folder() / "r/run.json"))["target_scale"];
  EXPECT_NEAR(summary["test_rmse"].get<double>() / scale["deviation"][0].get<double>(),
              std::sqrt(summary["test_loss"].get<double>()), 1e-6);
  EXPECT_GE(summary["test_rmse"], summary["test_mae"]);
  EXPECT_GT(summary["test_r2"].get<double>(), 0.5);
  EXPECT_TRUE(summary["test_accuracy"].is_null());
  EXPECT_EQ(summary["test_values"].size(), 1u);
  const Json stored = Json::parse(read(folder() / "r/summary.json"));
  const Json evaluated = last_json(run({"eval", "--run", "r", "--checkpoint", "last", "--json"}));
  for (const char* name : names) {
    EXPECT_EQ(stored[std::string("test_") + name], summary[std::string("test_") + name]);
    EXPECT_EQ(evaluated[name], summary[std::string("test_") + name]);
    EXPECT_EQ(epochs_of("r").back()[std::string("test_") + name], summary[std::string("test_") + name]);
  }
  // By the definitions, from what the program predicts.
  const Words rows = lines_of(run({"predict", "--run", "r", "--checkpoint", "last"}).out);
  ASSERT_EQ(rows.size(), 71u);
  double absolute = 0, square = 0, sum = 0, spread = 0;
  std::vector<std::array<double, 2>> pairs;
  for (std::size_t i = 1; i < rows.size(); ++i) {
    const Words cells = base::split(rows[i], ',');
    pairs.push_back({std::stod(cells.at(1)), std::stod(cells.at(2))});
    absolute += std::abs(pairs.back()[1] - pairs.back()[0]);
    square += (pairs.back()[1] - pairs.back()[0]) * (pairs.back()[1] - pairs.back()[0]);
    sum += pairs.back()[0];
  }
  for (const auto& pair : pairs) spread += (pair[0] - sum / 70) * (pair[0] - sum / 70);
  EXPECT_NEAR(summary["test_mae"].get<double>(), absolute / 70, 1e-5);
  EXPECT_NEAR(summary["test_r2"].get<double>(), 1 - square / spread, 1e-5);
  const Outcome text = run({"eval", "--run", "r", "--checkpoint", "last"});
  EXPECT_NE(text.out.find("\nR2 "), std::string::npos) << text.out;
  EXPECT_NE(text.out.find("\nMAE "), std::string::npos);
  EXPECT_EQ(text.out.find("accuracy"), std::string::npos) << text.out;
  const Outcome shown = run(Words{"train"} + values("shown") + on_test);
  EXPECT_NE(shown.out.find("test R2"), std::string::npos) << shown.out;
  EXPECT_NE(shown.out.find("  test MAE   test RMSE     test R2  "), std::string::npos) << shown.out;
  EXPECT_EQ(shown.out.find("acc."), std::string::npos) << shown.out;
}

TEST_F(ScoresOfRuns, ValuesAreScoredTheSameOnAnyNumberOfWorkers) {
  write_values();
  const Json alone = trained(values("alone"));
  for (const Words& how :
       {Words{"--threads", "2"}, Words{"--workers", "3"}, Words{"--workers", "2", "--evaluate", "first"}}) {
    const Json other = trained(values("other" + how.back()) + how);
    EXPECT_EQ(other["weights_sha256"], alone["weights_sha256"]);
    for (const char* name : {"test_mae", "test_rmse", "test_r2"}) EXPECT_EQ(other[name], alone[name]) << how[0];
  }
}

TEST_F(ScoresOfRuns, LabelsHaveF1AndExactMatches) {
  const Words settings{"--model", "mlp:hidden=16", "--data", "synthetic", "--target", "labels", "--train-samples",
                       "64",      "--epochs",      "1",      "--run",     "r"};
  const Json summary = trained(settings + Words{"--test-samples", "32"});
  const Json evaluated = last_json(run({"eval", "--run", "r", "--checkpoint", "last", "--json"}));
  double right = 0, said = 0, f1 = 0, known = 0;
  for (const Json& label : evaluated["per_class"]) {
    said += label["samples"].get<double>() + label["predicted"].get<double>();
    right += label["recall"].is_null() ? 0 : label["recall"].get<double>() * label["samples"].get<double>();
    if (!label["f1"].is_null()) f1 += label["f1"].get<double>(), ++known;
  }
  EXPECT_NEAR(evaluated["f1_micro"].get<double>(), 2 * right / said, 1e-9);
  EXPECT_NEAR(evaluated["f1_macro"].get<double>(), f1 / known, 1e-9);
  for (const char* name : {"f1_micro", "f1_macro", "exact_match"})
    EXPECT_EQ(summary[std::string("test_") + name], evaluated[name]);
  EXPECT_LE(evaluated["exact_match"], evaluated["accuracy"]);
  EXPECT_EQ(summary["test_labels"].size(), evaluated["per_class"].size());
  const Outcome text = run({"eval", "--run", "r"});
  EXPECT_NE(text.out.find("of the samples have all labels right"), std::string::npos) << text.out;
}

TEST_F(ScoresOfRuns, ClassWeightsFindTheRareClass) {
  write_classes("train.csv", 0, 200);
  write_classes("test.csv", 200, 100);
  const Words settings{"--model", "mlp:hidden=16", "--data", "train.csv", "--batch", "20", "--epochs", "2"};
  const Json plain = trained(settings + Words{"--run", "plain"});
  const Json same = trained(settings + Words{"--class-weights", "rare=3,common=3", "--run", "same"});
  EXPECT_EQ(same["weights_sha256"], plain["weights_sha256"]) << "weights of 1 change no bit";
  const Json weighted = trained(settings + Words{"--class-weights", "balanced", "--run", "weighted"});
  EXPECT_NE(weighted["weights_sha256"], plain["weights_sha256"]);
  const auto predicted_rare = [&](const std::string& name) {
    return last_json(run({"eval", "--run", name, "--checkpoint", "last", "--json"}))["per_class"][1]["predicted"];
  };
  EXPECT_GT(predicted_rare("weighted"), predicted_rare("plain"));
  const Json stored = Json::parse(read(folder() / "weighted/run.json"));
  EXPECT_EQ(stored["configuration"]["class-weights"], "balanced");
  EXPECT_FLOAT_EQ(stored["resolved"]["class_weights"][0].get<float>(), 200.0f / (2 * 180));
  EXPECT_FLOAT_EQ(stored["resolved"]["class_weights"][1].get<float>(), 200.0f / (2 * 20));
  const Json two = trained(settings + Words{"--class-weights", "balanced", "--workers", "2", "--run", "two"});
  EXPECT_EQ(two["weights_sha256"], weighted["weights_sha256"]);
  const Words steady = settings + Words{"--class-weights", "balanced", "--schedule", "constant"};
  trained(steady + Words{"--steps", "7", "--run", "parts"});
  const Json resumed = trained({"--resume", "parts", "--steps", "15"});
  EXPECT_EQ(resumed["weights_sha256"], trained(steady + Words{"--steps", "15", "--run", "whole"})["weights_sha256"]);
  expect_refused({"train", "--resume", "parts", "--class-weights", "none"}, {"--class-weights", "cannot change"});
  expect_refused(Words{"train"} + settings + Words{"--class-weights", "rar=2", "--run", "no"}, {"did you mean 'rare'"});
}

// What the frozen layers keep, and that the others learn what they learn without.
class Frozen : public ScoresOfRuns {
 protected:
  static Words settings(const std::string& run) {
    return kSmall + Words{"--model", "resnet20-cifar", "--batch", "32", "--oars", "4", "--run", run};
  }
  void SetUp() override {
    ScoresOfRuns::SetUp();
    if (!IsSkipped()) trained(settings("base"));
  }
  static Words transfer(const std::string& run) { return settings(run) + Words{"--init-from", "base", "--seed", "3"}; }
  static bool is_statistic(const std::string& name) { return name.find("running") != std::string::npos; }
};

TEST_F(Frozen, LayersKeepTheirWeightsWhateverTheOptimizer) {
  int number = 0;
  for (const Words& how :
       {Words{"--optimizer", "adamw:weight-decay=0.1"}, Words{"--optimizer", "sgd:momentum=0.9,weight-decay=0.01"},
        Words{"--clip", "0.1", "--workers", "2", "--strategy", "ps:mode=sync"},
        Words{"--workers", "3", "--strategy", "local:every=1"},
        Words{"--workers", "2", "--strategy", "ps:mode=async"}}) {
    const std::string name = fmt::format("r{}", number++);
    trained(transfer(name) + Words{"--freeze", "all-but:fc,layer3.2"} + how);
    for (const std::string& differs : differing("base", name))
      EXPECT_TRUE(is_statistic(differs) || differs.starts_with("fc.") || differs.starts_with("layer3.2.")) << differs;
    EXPECT_NE(weights_of("base")["fc.weight"], weights_of(name)["fc.weight"]);
  }
}

TEST_F(Frozen, ButOneStepOfTheOthersIsThatOfAWholeRun) {
  trained(transfer("whole") + Words{"--steps", "1"});
  trained(transfer("middle") + Words{"--steps", "1", "--freeze", "layer2*"});
  trained(transfer("head") + Words{"--steps", "1", "--freeze", "all-but:fc"});
  for (const std::string& name : differing("whole", "middle"))
    EXPECT_TRUE(name.starts_with("layer2.") && !is_statistic(name)) << name;
  for (const std::string& name : differing("whole", "head")) EXPECT_FALSE(name.starts_with("fc.")) << name;
  for (const std::string& name : differing("whole", "head")) EXPECT_FALSE(is_statistic(name)) << name;
}

// Backward does not reach the frozen layers, but their batch norms' statistics move as if nothing learnt.
TEST_F(Frozen, StatisticsMove) {
  trained(transfer("head") + Words{"--freeze", "all-but:fc"});
  trained(transfer("still") + Words{"--optimizer", "sgd:lr=0"});
  EXPECT_EQ(differing("head", "still"), (Words{"fc.bias", "fc.weight"}));
  EXPECT_NE(weights_of("base")["bn1.running_mean"], weights_of("head")["bn1.running_mean"]);
}

TEST_F(Frozen, RunsHaveTheSameBitsAndAreResumed) {
  const Words how{"--freeze", "conv1,layer1", "--clip", "1", "--optimizer", "adamw", "--schedule", "constant"};
  const Json one = trained(transfer("one") + how + Words{"--threads", "1"});
  int number = 0;
  for (const Words& other : {Words{"--threads", "3"}, Words{"--workers", "3"},
                             Words{"--workers", "2", "--strategy", "ps:mode=sync", "--servers", "2"}})
    EXPECT_EQ(trained(transfer(fmt::format("o{}", number++)) + how + other)["weights_sha256"], one["weights_sha256"]);
  EXPECT_EQ(Json::parse(read(folder() / "one/run.json"))["configuration"]["freeze"], "conv1,layer1");
  trained(transfer("parts") + how + Words{"--steps", "1"});
  EXPECT_EQ(trained({"--resume", "parts", "--steps", "2"})["weights_sha256"], one["weights_sha256"]);
  expect_refused({"train", "--resume", "parts", "--freeze", "conv1"}, {"--freeze", "cannot change"});
  expect_refused(Words{"train"} + transfer("no") + Words{"--freeze", "layr1"}, {"did you mean 'layer1'"});
  EXPECT_EQ(run({"eval", "--run", "one"}).code, 0);
}

}  // namespace
}  // namespace trireme::cli_test
