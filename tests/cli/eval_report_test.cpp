// What eval says behind loss and accuracy.
#include <algorithm>
#include <cmath>

#include "cli/eval_report.h"
#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

using EvalReports = OwnFiles;

std::string without_files(std::int64_t) { return {}; }

// Six samples of three classes: a, a, a, b, b, c answered a, a, b, b, a, a.
train::Predictions six_answers() {
  std::vector<float> outputs;
  for (const int answer : {0, 0, 1, 1, 0, 0})
    for (int k = 0; k < 3; ++k) outputs.push_back(k == answer ? 1.0f : 0.0f);
  outputs[17] = -9;  // the last sample: the most wrong
  return made_up(data::TargetKind::classes, {"a", "b", "c"}, outputs, {0, 0, 0, 1, 1, 2});
}

TEST_F(EvalReports, CountsWhatIsConfused) {
  const auto p = six_answers();
  const Json json = Json::parse(cli::report_json({p, without_files}));
  EXPECT_EQ(json["confusion"], Json::parse("[[2,1,0],[1,1,0],[1,0,0]]"));
  EXPECT_EQ(json["confused"].size(), 3u);
  const Json& a = json["per_class"][0];
  EXPECT_EQ(a["class"], "a");
  EXPECT_EQ(a["samples"], 3);
  EXPECT_EQ(a["predicted"], 4);
  EXPECT_DOUBLE_EQ(a["precision"].get<double>(), 2.0 / 4);
  EXPECT_DOUBLE_EQ(a["recall"].get<double>(), 2.0 / 3);
  EXPECT_DOUBLE_EQ(a["f1"].get<double>(), 2 * 2.0 / (3 + 4));
  const Json& c = json["per_class"][2];
  EXPECT_TRUE(c["precision"].is_null()) << "never predicted";
  EXPECT_EQ(c["recall"], 0);
  EXPECT_EQ(json["worst"].size(), 6u);
  EXPECT_EQ(json["worst"][0]["index"], 5);
  EXPECT_EQ(json["worst"][0]["label"], "c");
  EXPECT_EQ(json["worst"][0]["predicted"], "a");
  EXPECT_NEAR(json["worst"][0]["loss"].get<double>(), std::log(std::exp(1.0) + 1 + std::exp(-9.0)) + 9, 1e-9);
}

TEST_F(EvalReports, ShowsTheWorstOfManyClasses) {
  Words names;
  for (int k = 0; k < 30; ++k) names.push_back("kind " + std::to_string(k));
  std::vector<float> outputs, targets;
  for (int s = 0; s < 60; ++s) {
    targets.push_back(static_cast<float>(s / 2));
    for (int k = 0; k < 30; ++k) outputs.push_back(k == (s < 20 ? 29 : s / 2) ? 5.0f : 0.0f);
  }
  const auto p = made_up(data::TargetKind::classes, names, outputs, targets);
  std::string text;
  for (const std::string& line : cli::report_lines({p, without_files})) text += line + "\n";
  EXPECT_NE(text.find("10 of 30 classes with the lowest F1"), std::string::npos) << text;
  EXPECT_NE(text.find("2 of 2       kind 9 taken for kind 29"), std::string::npos) << text;
  EXPECT_EQ(text.find("a row per true class"), std::string::npos) << text;
}

TEST_F(EvalReports, OfLabelsAndValues) {
  const auto labels = made_up(data::TargetKind::labels, {"rain", "wind"}, {5, -5, 5, 5}, {1, 0, 0, 1});
  const Json json = Json::parse(cli::report_json({labels, without_files}));
  EXPECT_EQ(json["per_class"][0]["precision"], 0.5);
  EXPECT_EQ(json["per_class"][1]["f1"], 1);
  EXPECT_FALSE(json.contains("confusion"));
  EXPECT_EQ(json["worst"][0]["label"], Json({"wind"}));
  EXPECT_EQ(json["worst"][0]["predicted"], Json({"rain", "wind"}));
  const auto values = made_up(data::TargetKind::values, {"0"}, {1, 7, 3}, {1, 5, 4});
  const Json of_values = Json::parse(cli::report_json({values, without_files}));
  EXPECT_FALSE(of_values.contains("per_class"));
  EXPECT_EQ(of_values["worst"][0], Json::parse(R"({"index":1,"label":5.0,"predicted":7.0,"loss":4.0})"));
}

TEST_F(EvalReports, OfARun) {
  train_on_photos();
  make_photos("mixed");
  write(folder() / "mixed/cat/3.png", photo(2, 50));  // looks like a dog
  const Outcome text = run({"eval", "--run", "r", "--data", "mixed", "--show", "worst.png"});
  ASSERT_EQ(text.code, 0) << text.err;
  const auto lines = lines_of(text.out);
  EXPECT_TRUE(lines.at(0).starts_with("the last weights, r/checkpoints/step-")) << lines[0];
  EXPECT_NE(lines[0].find("on 36 samples of mixed (all)"), std::string::npos) << lines[0];
  for (const char* saying : {"cat        0     11      1", "confusion", "mixed/cat/3.png"})
    EXPECT_NE(text.out.find(saying), std::string::npos) << saying << "\n" << text.out;
  EXPECT_EQ(read(folder() / "worst.png").substr(1, 3), "PNG");
  const Json json = last_json(run({"eval", "--run", "r", "--data", "mixed", "--checkpoint", "last", "--json"}));
  EXPECT_EQ(json["weights"], "last");
  EXPECT_EQ(json["confusion"][1], Json({0, 11, 1}));
  EXPECT_EQ(json["worst"][0]["file"], "mixed/cat/3.png");
  EXPECT_EQ(json["worst"].size(), 10u);
  const double accuracy = json["accuracy"];
  EXPECT_NEAR(accuracy, 35 / 36.0, 1e-12);
  expect_refused({"eval", "--run", "r", "--show", "worst.png"}, {"worst.png", "exists"});
  expect_refused({"eval", "--run", "r", "--show", "worst.jpg"}, {"worst.jpg", ".png"});
}

// The mean of the samples' losses is the loss that training reports.
TEST_F(EvalReports, LossesAreTheNetworks) {
  train_on_photos();
  const Json json = last_json(run({"eval", "--run", "r", "--json"}));
  ASSERT_EQ(json["samples"], 7);
  double sum = 0;
  for (const Json& sample : json["worst"]) sum += sample["loss"].get<double>();
  EXPECT_NEAR(sum / 7, json["loss"].get<double>(), 1e-5);
}

TEST_F(EvalReports, TheSummarySaysWhichWeights) {
  const Outcome outcome = train({"--epochs", "1", "--run", "r"});
  EXPECT_NE(outcome.out.find("of the last weights"), std::string::npos) << outcome.out;
}

}  // namespace
}  // namespace trireme::cli_test
