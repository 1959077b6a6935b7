// What predict writes: CSV, JSON lines and NumPy, for classes, labels and values.
#include <cmath>
#include <cstring>
#include <fstream>

#include "cli/own_files.h"
#include "cli/prediction_text.h"

namespace trireme::cli_test {
namespace {

using PredictionFiles = OwnFiles;

TEST(PredictionText, QuotesNamesThatNeedIt) {
  EXPECT_EQ(cli::csv_field("plain name"), "plain name");
  EXPECT_EQ(cli::csv_field("a,b"), "\"a,b\"");
  EXPECT_EQ(cli::csv_field("say \"no\""), "\"say \"\"no\"\"\"");
  EXPECT_EQ(cli::csv_field("two\nlines"), "\"two\nlines\"");
}

TEST(PredictionText, ProbabilitiesOfClasses) {
  // Softmax of log(1), log(3): 0.25 and 0.75.
  const auto p = made_up(data::TargetKind::classes, {"a,b", "c"}, {0, std::log(3.0f), 5, 5}, {0, 1});
  EXPECT_EQ(cli::as_csv({p, nullptr, 0}),
            "index,label,predicted,\"p_a,b\",p_c\n0,\"a,b\",c,0.25,0.75\n1,c,\"a,b\",0.5,0.5\n");
  EXPECT_EQ(cli::as_csv({p, [](std::int64_t s) { return s ? "x" : "y,z"; }, 1}),
            "index,file,label,predicted,probability\n0,\"y,z\",\"a,b\",c,0.75\n1,x,c,\"a,b\",0.5\n");
  EXPECT_NEAR(p.loss(0), std::log(4.0), 1e-6);
  EXPECT_NEAR(p.loss(1), std::log(2.0), 1e-6);
}

TEST(PredictionText, SeveralLabelsAndValues) {
  // Sigmoid of log(3): 0.75; of 0: 0.5.
  const auto labels =
      made_up(data::TargetKind::labels, {"rain", "wind"}, {std::log(3.0f), 0, -1e9f, 1e9f}, {1, 0, 0, 0});
  EXPECT_EQ(cli::as_csv({labels, nullptr, 0}),
            "index,label,predicted,p_rain,p_wind\n0,rain,rain;wind,0.75,0.5\n1,,wind,0,1\n");
  EXPECT_NEAR(labels.loss(0), (std::log(4.0 / 3) + std::log(2.0)) / 2, 1e-6);
  const auto one = made_up(data::TargetKind::values, {"0"}, {1.5, -2}, {});
  EXPECT_EQ(cli::as_csv({one, nullptr, 0}), "index,predicted\n0,1.5\n1,-2\n");
  const auto two = made_up(data::TargetKind::values, {"x", "y"}, {1.5, -2}, {1, 0});
  EXPECT_EQ(cli::as_csv({two, nullptr, 0}), "index,label_x,label_y,predicted_x,predicted_y\n0,1,0,1.5,-2\n");
  EXPECT_NEAR(two.loss(0), (0.25 + 4) / 2, 1e-6);
  EXPECT_EQ(cli::as_json_lines({two, nullptr, 0}), "{\"index\":0,\"label\":[1.0,0.0],\"predicted\":[1.5,-2.0]}\n");
}

TEST_F(PredictionFiles, TheBestClassesAlone) {
  train_on_photos();
  const Outcome outcome = run({"predict", "--run", "r", "--data", "photos/dog/1.png", "--top", "2"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  EXPECT_EQ(lines.at(0), "index,file,predicted,probability,predicted_2,probability_2");
  const std::string start = "0,photos/dog/1.png,dog,";
  ASSERT_TRUE(lines.at(1).starts_with(start)) << lines[1];
  EXPECT_GT(std::stod(lines[1].substr(start.size())), 0.5) << lines[1];
  expect_refused({"predict", "--run", "r", "--top", "4"}, {"--top", "4", "3"});
  expect_refused({"predict", "--run", "r", "--top", "some"}, {"--top", "some"});
}

TEST_F(PredictionFiles, JsonLines) {
  train_on_photos();
  const Outcome outcome = run({"predict", "--run", "r", "--data", "photos", "--split", "train", "--format", "jsonl"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 29u) << "36 without the fifth that is the test set";
  for (const std::string& line : lines) {
    const Json json = Json::parse(line);
    EXPECT_EQ(json["label"], json["predicted"]);
    EXPECT_EQ(json["file"].get<std::string>().find("photos/" + json["label"].get<std::string>() + "/"), 0u) << line;
    EXPECT_EQ(json["probabilities"].size(), 3u);
  }
  const Outcome best = run({"predict", "--run", "r", "--format", "jsonl", "--top", "1"});
  const Json first = Json::parse(lines_of(best.out).at(0));
  EXPECT_EQ(first["top"][0]["class"], first["predicted"]);
}

TEST_F(PredictionFiles, AnArrayOfProbabilities) {
  train_on_photos();
  const Words npy{"predict", "--run", "r", "--data", "photos", "--format", "npy"};
  EXPECT_EQ(run(npy + Words{"--output", "p.npy"}).code, 0);
  const std::string bytes = read(folder() / "p.npy");
  const std::size_t header = 10 + static_cast<unsigned char>(bytes[8]) + 256 * static_cast<unsigned char>(bytes[9]);
  EXPECT_EQ(header % 64, 0u);
  EXPECT_NE(bytes.find("'shape': (36, 3)"), std::string::npos) << bytes.substr(0, header);
  ASSERT_EQ(bytes.size(), header + 36 * 3 * sizeof(float));
  for (int s = 0; s < 36; ++s) {
    float row[3];
    std::memcpy(row, bytes.data() + header + s * sizeof row, sizeof row);
    EXPECT_NEAR(row[0] + row[1] + row[2], 1, 1e-6);
  }
  expect_refused(npy, {"--format npy", "--output"});
  expect_refused(npy + Words{"--output", "p.npy"}, {"p.npy", "exists"});
  expect_refused({"predict", "--run", "r", "--format", "xml"}, {"--format", "xml", "csv"});
}

TEST_F(PredictionFiles, ValuesOfATable) {
  std::string table, inputs;
  for (int n = 0; n < 20; ++n) {
    std::string row;
    for (int i = 0; i < 784; ++i) row += std::to_string((i * n) % 200) + ",";
    table += row + std::to_string(0.5 * n) + "\n";
    inputs += row.substr(0, row.size() - 1) + "\n";
  }
  write(folder() / "table.csv", table);
  trained({"--model", "mnist-cnn", "--data", "table.csv", "--target", "values", "--batch", "8", "--optimizer",
           "sgd:lr=0.0001", "--run", "r"});
  const Outcome outcome = run({"predict", "--run", "r"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_EQ(lines_of(outcome.out).at(0), "index,label,predicted");
  EXPECT_EQ(lines_of(outcome.out).size(), 5u);
  write(folder() / "inputs.csv", inputs);
  write(folder() / "copy.csv", table);
  const auto alone = lines_of(run({"predict", "--run", "r", "--data", "inputs.csv"}).out);
  const auto beside = lines_of(run({"predict", "--run", "r", "--data", "copy.csv"}).out);
  ASSERT_EQ(alone.size(), 21u);
  ASSERT_EQ(beside.size(), 21u);
  EXPECT_EQ(alone[0], "index,predicted");
  for (std::size_t i = 1; i < 21; ++i)
    EXPECT_EQ(beside[i].substr(beside[i].rfind(',')), alone[i].substr(alone[i].rfind(','))) << "the same prediction";
  expect_refused({"predict", "--run", "r", "--top", "1"}, {"--top", "classes", "values"});
}

}  // namespace
}  // namespace trireme::cli_test
