// Predictions for files of a user's own that have no labels.
#include "cli/own_files.h"

namespace trireme::cli_test {
namespace {

class OwnSamples : public OwnFiles {
 protected:
  // The lines behind the header.
  std::vector<std::string> predicted(const Words& arguments) const {
    const Outcome outcome = run(Words{"predict", "--run", "r"} + arguments);
    EXPECT_EQ(outcome.code, 0) << outcome.err;
    std::vector<std::string> lines = lines_of(outcome.out);
    if (!lines.empty()) lines.erase(lines.begin());
    return lines;
  }
  static bool names(const std::string& line, const std::string& what) { return line.find(what) != std::string::npos; }
};

TEST_F(OwnSamples, OneImage) {
  train_on_photos();
  write(folder() / "new.png", photo(2, 77));
  const auto lines = predicted({"--data", "new.png"});
  ASSERT_EQ(lines.size(), 1u);
  EXPECT_TRUE(lines[0].starts_with("0,new.png,dog,")) << lines[0];
  expect_refused({"eval", "--run", "r", "--data", "new.png"}, {"new.png", "no labels", "predict"});
  expect_refused({"train", "--data", "new.png"}, {"new.png", "one folder per class"});
  write(folder() / "broken.png", photo(2, 77).substr(0, 60));
  expect_refused({"predict", "--run", "r", "--data", "broken.png"}, {"broken.png"});
  expect_refused({"predict", "--run", "r", "--data", "./none.png"}, {"none.png", "does not exist"});
}

TEST_F(OwnSamples, AFolderWithoutClasses) {
  train_on_photos();
  fs::create_directory(folder() / "flat");
  for (int i = 0; i < 11; ++i) write(folder() / "flat" / ("img" + std::to_string(i) + ".png"), photo(i % 3, i));
  write(folder() / "flat/notes.txt", "no image");
  const auto lines = predicted({"--data", "flat"});
  ASSERT_EQ(lines.size(), 11u);
  const Words animals{"bird", "cat", "dog"};
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_TRUE(lines[i].starts_with(std::to_string(i) + ",flat/img" + std::to_string(i) + ".png," + animals[i % 3]))
        << lines[i] << ": in natural order";
}

TEST_F(OwnSamples, ColoursAndSizesAreFittedAndSaid) {
  train_on_photos();
  fs::create_directory(folder() / "flat");
  write(folder() / "flat/colour.png", photo(1, 5, 3));
  data::Image large{1, 56, 56, std::vector<std::uint8_t>(std::size_t{56 * 56}, 20)};
  std::fill_n(large.pixels.begin(), 56 * 18, std::uint8_t{220});
  const auto bytes = data::encode_png(large);
  write(folder() / "flat/large.png", {bytes.begin(), bytes.end()});
  const Outcome outcome = run({"predict", "--run", "r", "--data", "flat"});
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  EXPECT_TRUE(names(outcome.err, "note: 1 of 2 images coloured, converted to grey")) << outcome.err;
  EXPECT_TRUE(names(outcome.err, "note: 1 of 2 images resized to 28x28")) << outcome.err;
  EXPECT_TRUE(names(lines_of(outcome.out).at(1), "cat")) << outcome.out;
  EXPECT_TRUE(names(lines_of(outcome.out).at(2), "bird")) << outcome.out;
}

TEST_F(OwnSamples, AListOfFiles) {
  train_on_photos();
  write(folder() / "list.txt", "photos/dog/3.png\nphotos/bird/0.png\r\n\n");
  const auto with_input = [&](const std::string& file) {
    Words words{"sh", "-c", "\"$@\" < " + (folder() / file).string(), "sh"};
    const test::Finished finished =
        test::run_process(words + command({"predict", "--run", "r", "--data", "-"}), {}, 600);
    return Outcome{finished.exit_code, finished.out, finished.err};
  };
  const Outcome outcome = with_input("list.txt");
  ASSERT_EQ(outcome.code, 0) << outcome.err;
  const auto lines = lines_of(outcome.out);
  ASSERT_EQ(lines.size(), 3u);
  EXPECT_TRUE(lines[1].starts_with("0,photos/dog/3.png,dog,")) << lines[1];
  EXPECT_TRUE(lines[2].starts_with("1,photos/bird/0.png,bird,")) << lines[2];
  write(folder() / "list.txt", "");
  expect_sentence(with_input("list.txt"), 2, {"--data -", "standard input"});
  write(folder() / "list.txt", "photos/dog/333.png");
  expect_sentence(with_input("list.txt"), 2, {"photos/dog/333.png"});
}

TEST_F(OwnSamples, AnArray) {
  train_on_photos();
  std::string values;
  for (const int third : {2, 0, 1, 1})
    for (int i = 0; i < 784; ++i) values += static_cast<char>(i / kPhotoSide * 3 / kPhotoSide == third ? 210 : 30);
  write(folder() / "a.npy", npy_bytes("4, 28, 28", values));
  for (const char* name : {"a.npy", "arrays"}) {
    fs::create_directories(folder() / "arrays");
    fs::copy_file(folder() / "a.npy", folder() / "arrays/x.npy", fs::copy_options::overwrite_existing);
    const auto lines = predicted({"--data", name});
    ASSERT_EQ(lines.size(), 4u);
    EXPECT_TRUE(lines[0].starts_with("0,dog,")) << lines[0];
    EXPECT_TRUE(lines[1].starts_with("1,bird,")) << lines[1];
    EXPECT_TRUE(lines[3].starts_with("3,cat,")) << lines[3];
  }
  write(folder() / "b.npy", npy_bytes("4, 14, 56", values));
  EXPECT_EQ(predicted({"--data", "b.npy"}).size(), 4u) << "resized";
  write(folder() / "b.npy", npy_bytes("784, 4", values));
  expect_refused({"predict", "--run", "r", "--data", "b.npy"}, {"b.npy", "1x4", "1x28x28"});
}

TEST_F(OwnSamples, ATableWithoutItsTarget) {
  std::string table, inputs;
  const Words animals{"bird", "cat", "dog"};
  for (int n = 0; n < 36; ++n) {
    std::string row;
    for (int i = 0; i < 784; ++i)
      row += std::to_string((i / kPhotoSide * 3 / kPhotoSide == n % 3 ? 200 : 20) + (i + n) % 9) + ",";
    table += row + animals[static_cast<std::size_t>(n % 3)] + "\n";
    inputs += row.substr(0, row.size() - 1) + "\n";
  }
  write(folder() / "table.csv", table);
  write(folder() / "inputs.csv", inputs);
  trained({"--model", "mnist-cnn", "--data", "table.csv", "--batch", "8", "--epochs", "8", "--run", "r"});
  fs::rename(folder() / "table.csv", folder() / "all.csv");  // predicting needs the run alone
  const auto lines = predicted({"--data", "inputs.csv"});
  ASSERT_EQ(lines.size(), 36u);
  for (std::size_t i = 0; i < lines.size(); ++i)
    EXPECT_TRUE(lines[i].starts_with(std::to_string(i) + "," + animals[i % 3] + ",")) << lines[i];
  const Outcome moved = run({"eval", "--run", "r", "--data", "all.csv", "--json"});
  EXPECT_EQ(last_json(moved)["samples"], 7) << "the run's own test share: it has learned the others";
  EXPECT_NE(moved.err.find("the run's own data"), std::string::npos) << moved.err;
  write(folder() / "more.csv", table + table);
  EXPECT_EQ(last_json(run({"eval", "--run", "r", "--data", "more.csv", "--json"}))["samples"], 72);
  write(folder() / "short.csv", "1,2,3\n");
  expect_refused({"predict", "--run", "r", "--data", "short.csv"}, {"short.csv", "1x2", "1x28x28"});
}

}  // namespace
}  // namespace trireme::cli_test
