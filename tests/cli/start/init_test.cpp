// `trireme init`: the experiment that it writes is one that train takes as it is.
#include <cmath>
#include <map>

#include <fmt/format.h>

#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

class Init : public OwnFiles {
 protected:
  // Runs init, which must succeed, and a few steps of what it wrote. Returns run.json's configuration.
  Json tried(const Words& options) const {
    const Outcome made = run(Words{"init", "first"} + options);
    EXPECT_EQ(made.code, 0) << made.err;
    EXPECT_NE(made.out.find("train --config first/train.toml"), std::string::npos) << made.out;
    const Outcome trained = run({"train", "--config", "first/train.toml", "--steps", "3", "--run", "r"});
    EXPECT_EQ(trained.code, 0) << trained.err;
    return Json::parse(read(folder() / "r/run.json"))["configuration"];
  }
  // A table of `columns` numbers and a target; `smooth`: the numbers of a row are a wave.
  void write_table(int rows, int columns, bool smooth, bool values = false) const {
    std::string text;
    for (int r = 0; r < rows; ++r) {
      for (int c = 0; c < columns; ++c)
        text +=
            fmt::format("{:.4f},", smooth ? std::sin(0.1 * c * (1 + r % 2) + r) : (r * 37 + c * 7919) % 101 / 101.0);
      text += values ? fmt::format("{:.2f}\n", 1000.0 * (r % 7)) : r % 2 == 0 ? "even\n" : "odd\n";
    }
    write(folder() / "table.csv", text);
  }
};

TEST_F(Init, SmallImagesGetANetworkOfTheZoo) {
  make_photos("photos");
  const Json configuration = tried({"--data", "photos", "--seed", "4"});
  EXPECT_EQ(configuration["model"], "resnet20-cifar");
  EXPECT_EQ(configuration["image-size"], "32x32");
  EXPECT_EQ(configuration["validation"], "none") << "29 samples are too few";
  EXPECT_EQ(configuration["seed"], "4");
  EXPECT_TRUE(fs::path(configuration["data"].get<std::string>()).is_absolute());
}

TEST_F(Init, PhotosOfDifferentSizesGetANetworkOfTheirOwn) {
  for (int i = 0; i < 60; ++i) {
    data::Image image{3, 70 + i % 5, 90 - i % 7, {}};
    image.pixels.assign(static_cast<std::size_t>(3 * image.rows * image.columns), static_cast<std::uint8_t>(4 * i));
    const auto bytes = data::encode_png(image);
    const fs::path in = folder() / "p" / (i < 50 ? "многие" : "少ない");
    fs::create_directories(in);
    write(in / (std::to_string(i) + ".png"), {bytes.begin(), bytes.end()});
  }
  const Outcome made = run({"init", "first", "--data", "p"});
  ASSERT_EQ(made.code, 0) << made.err;
  for (const char* saying : {"48 training and 12 test", "многие", "少ない", "70 to 74 pixels", "64x64", "unbalanced"})
    EXPECT_NE(made.out.find(saying), std::string::npos) << saying << " is not in\n" << made.out;
  EXPECT_EQ(run({"model", "show", "first/small-resnet.toml"}).code, 0);
  // From another folder too.
  fs::create_directory(folder() / "elsewhere");
  const Outcome trained = run({"train", "--config", "first/train.toml", "--steps", "2", "--run", "elsewhere/r"});
  ASSERT_EQ(trained.code, 0) << trained.err;
  const Json run_json = Json::parse(read(folder() / "elsewhere/r/run.json"));
  EXPECT_EQ(run_json["samples"]["network_inputs"], Json::parse("[[3,64,64]]"));
}

TEST_F(Init, RowsAndSeriesAreToldApart) {
  write_table(300, 80, false);
  EXPECT_TRUE(tried({"--data", "table.csv"})["model"].get<std::string>().starts_with("mlp:"));
  for (const char* name : {"first", "r"}) fs::remove_all(folder() / name);
  write_table(300, 80, true);
  const Json configuration = tried({"--data", "table.csv"});
  EXPECT_EQ(configuration["model"], "resnet1d");
  EXPECT_EQ(configuration["validation"], "10%:stratified");
  EXPECT_EQ(configuration["batch"], "16") << "216 samples, at least 12 steps an epoch";
}

TEST_F(Init, ArraysOfChannelsAndLengthAreSeries) {
  fs::create_directory(folder() / "arrays");
  for (const auto& [part, samples] : std::map<std::string, int>{{"train", 60}, {"test", 9}}) {
    std::string signals, labels;
    for (int i = 0; i < samples; ++i) {
      for (int k = 0; k < 200; ++k) signals += static_cast<char>((k * (1 + i % 3) + i) % 100);
      labels += static_cast<char>(i % 3);
    }
    write(folder() / "arrays" / ("x_" + part + ".npy"), npy_bytes(std::to_string(samples) + ", 2, 100", signals));
    write(folder() / "arrays" / ("y_" + part + ".npy"), npy_bytes(std::to_string(samples) + ",", labels));
  }
  EXPECT_EQ(tried({"--data", "arrays"})["model"], "resnet1d");
  const Json inputs = Json::parse(read(folder() / "r/run.json"))["samples"]["network_inputs"];
  EXPECT_EQ(inputs, Json::parse("[[2,100]]"));
}

TEST_F(Init, ValuesMayBeFarFromOne) {
  write_table(300, 5, false, true);
  EXPECT_EQ(tried({"--data", "table.csv", "--target", "values"})["target"], "values");
  EXPECT_EQ(Json::parse(read(folder() / "r/run.json"))["configuration"]["target-scale"], "standard");
  // A target in the hundred thousands, as houses have it: 300000 + 1000 k.
  std::string text = "size,age,price\n";
  for (int i = 0; i < 400; ++i)
    text += fmt::format("{},{},{}\n", 0.02 * (i * 37 % 101), i * 53 % 97, 300000 + 1000 * (i * 37 % 101));
  write(folder() / "houses.csv", text);
  const Outcome outcome = run({"init", "houses", "--data", "houses.csv", "--target", "values"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_GT(trained({"--config", "houses/train.toml", "--run", "h"})["test_r2"].get<double>(), 0.95);
}

TEST_F(Init, ATableIsReadAsAsked) {
  std::string text = "price,area,name\n";
  for (int r = 0; r < 100; ++r) text += fmt::format("{:.2f},{},flat-{}\n", 0.02 * r, r, r);
  write(folder() / "flats.csv", text);
  const Json configuration =
      tried({"--data", "flats.csv", "--target", "values", "--target-column", "price", "--ignore-columns", "name"});
  EXPECT_EQ(configuration["target-column"], "price");
  EXPECT_EQ(configuration["ignore-columns"], "name");
  EXPECT_EQ(Json::parse(read(folder() / "r/run.json"))["samples"]["network_inputs"], Json::parse("[[1,1]]"));
}

TEST_F(Init, WritesOverNothingAndLeavesNothingBehind) {
  make_photos("photos");
  expect_refused({"init", "photos", "--data", "photos"}, {"photos", "not empty"});
  expect_refused({"init", "--data", "photos"}, {"where"});
  expect_refused({"init", "first"}, {"--data"});
  expect_refused({"init", "first", "--data", "nowhere/at-all"}, {"nowhere/at-all", "does not exist"});
  fs::create_directories(folder() / "one/alone");
  for (int i = 0; i < 9; ++i) write(folder() / "one/alone" / (std::to_string(i) + ".png"), photo(0, i));
  expect_refused({"init", "first", "--data", "one"}, {"one", "single class"});
  write(folder() / "a-file", "");
  expect_refused({"init", "a-file", "--data", "photos"}, {"a-file"});
}

}  // namespace
}  // namespace trireme::cli_test
